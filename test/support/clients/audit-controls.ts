import type { Page } from 'playwright-core';

/** Whether the controls of a page can be read in each of their states, and hit. */

/** What is done to each control; see `CSS.forcePseudoState` of Chromium's protocol. */
const STATES = {
  rest: [],
  hover: ['hover'],
  focus: ['focus', 'focus-visible'],
  active: ['active', 'hover', 'focus'],
} as const;

/**
 * Marks one control of each kind, by its element, its classes and those around it: a hundred rows have the same. Returns
 * nothing; the marks are `data-probe`.
 */
const MARK = `(() => {
  const seen = new Set();
  const of = (element) => element ? element.tagName + '.' + element.className : '';
  const told = ['type', 'aria-pressed', 'aria-selected', 'aria-current', 'aria-expanded'];
  for (const control of document.querySelectorAll('a, button, summary, input, select, textarea, [role=option], .sample')) {
    control.removeAttribute('data-probe');
    if (!control.checkVisibility({ visibilityProperty: true })) continue;
    const inner = [...control.children].map(of);
    const kind = [of(control), of(control.parentElement), of(control.parentElement?.parentElement), ...inner, ...told.map((name) => control.getAttribute(name))].join('|');
    if (seen.has(kind)) continue;
    seen.add(kind);
    control.setAttribute('data-probe', '');
  }
})()`;

/** What is too faint among the marked controls: texts below 4.5 (large ones 3), drawings and placeholders likewise. */
const JUDGE = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const known = new Map();
  const read = (css) => {
    if (!known.has(css)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = css;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(css, [r, g, b, a / 255]);
    }
    return known.get(css);
  };
  const over = ([r, g, b, a], [R, G, B, A]) => {
    const alpha = a + A * (1 - a);
    const mix = (x, X) => alpha === 0 ? 0 : (x * a + X * A * (1 - a)) / alpha;
    return [mix(r, R), mix(g, G), mix(b, B), alpha];
  };
  const faded = ([r, g, b, a], by) => [r, g, b, a * by];
  const light = (value) => value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  /** The contrast of a colour painted in an element with what is behind it. */
  const contrast = (css, element) => {
    let [front, back] = [read(css), [0, 0, 0, 0]];
    for (let at = element; at; at = at.parentElement) {
      const { backgroundColor, opacity } = getComputedStyle(at);
      front = faded(over(front, read(backgroundColor)), Number(opacity));
      back = faded(over(back, read(backgroundColor)), Number(opacity));
    }
    const canvasColour = read(getComputedStyle(document.documentElement).colorScheme.includes('dark') && matchMedia('(prefers-color-scheme: dark)').matches ? '#000' : '#fff');
    const [one, other] = [luminance(over(front, canvasColour)), luminance(over(back, canvasColour))].sort((a, b) => b - a);
    return (one + 0.05) / (other + 0.05);
  };
  const faint = [];
  const judge = (control, element, css, least, what) => {
    const found = contrast(css, element);
    if (found < least) faint.push(found.toFixed(2) + ' < ' + least + ': ' + what + ' in ' + control.outerHTML.slice(0, 160));
  };
  for (const control of document.querySelectorAll('[data-probe]')) {
    const walker = document.createTreeWalker(control, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (node.data.trim() === '' || element.closest('.visually-hidden, option, svg') || !element.checkVisibility()) continue;
      const { color, fontSize, fontWeight } = getComputedStyle(element);
      const size = parseFloat(fontSize);
      judge(control, element, color, size >= 24 || (size >= 18.66 && fontWeight >= 700) ? 3 : 4.5, JSON.stringify(node.data.trim().slice(0, 30)));
    }
    if (control.matches('input, select, textarea')) {
      judge(control, control, getComputedStyle(control).color, 4.5, 'its value');
      if (control.placeholder) judge(control, control, getComputedStyle(control, '::placeholder').color, 4.5, 'its placeholder');
    }
    for (const drawing of control.querySelectorAll('svg:not(.avatar, .token-logo *, .sparkline) path')) {
      const { stroke } = getComputedStyle(drawing);
      if (stroke !== 'none' && drawing.checkVisibility()) judge(control, control, stroke, 3, 'its drawing');
    }
  }
  return faint;
})()`;

/** The controls that are too faint to read in one of their states, with the state. */
const faintOn = async (page: Page): Promise<readonly string[]> => {
  const session = await page.context().newCDPSession(page);
  await session.send('DOM.enable');
  await session.send('CSS.enable');
  const { root } = await session.send('DOM.getDocument', { depth: 0 });
  const { nodeIds } = await session.send('DOM.querySelectorAll', {
    nodeId: root.nodeId,
    selector: '[data-probe]',
  });
  const faint: string[] = [];
  const look = async (state: string): Promise<void> => {
    for (const each of (await page.evaluate(JUDGE)) as string[]) faint.push(`${state}: ${each}`);
  };
  for (const [state, forcedPseudoClasses] of Object.entries(STATES)) {
    for (const nodeId of nodeIds)
      await session.send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses: [...forcedPseudoClasses] });
    await look(state);
  }
  const disable = (isDisabled: boolean) =>
    page.evaluate(
      `for (const each of document.querySelectorAll('[data-probe]:is(button, input, select, textarea)')) {
        if (${isDisabled} && !each.disabled) { each.disabled = true; each.dataset.probe = 'disabled'; }
        else if (!${isDisabled} && each.dataset.probe === 'disabled') each.disabled = false;
      }`,
    );
  for (const nodeId of nodeIds)
    await session.send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses: [] });
  await disable(true);
  await look('disabled');
  await disable(false);
  await session.detach();
  return faint;
};

const LEAST = 24;

/**
 * Of the marked controls, those that are smaller than 24 pixels: as WCAG 2.2 has it, without links within a sentence, and without the squares of
 * the days of a year, which two fields choose as well.
 */
const smallOn = (page: Page): Promise<readonly string[]> =>
  page.evaluate(`[...document.querySelectorAll('[data-probe]')].flatMap((control) => {
    if (!control.checkVisibility({ visibilityProperty: true }) || control.closest('.visually-hidden')) return [];
    const { display } = getComputedStyle(control);
    if (control.tagName === 'A' && display === 'inline') return [];
    const target = control.matches('[type=checkbox], [type=radio]') ? control.closest('label') ?? control : control;
    const { width, height } = target.getBoundingClientRect();
    return Math.min(width, height) < ${LEAST} - 0.5 ? [Math.round(width) + ' × ' + Math.round(height) + ': ' + control.outerHTML.slice(0, 160)] : [];
  })`) as Promise<readonly string[]>;

/** The controls of a page that are too faint to read in one of their states, or too small to hit. */
export const auditControls = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(MARK);
  return [...(await smallOn(page)), ...(await faintOn(page))];
};
