import htm from 'htm';
import { h, type VNode } from 'preact';

/** A template as elements: text stays text, so that no value of the service becomes markup. */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
