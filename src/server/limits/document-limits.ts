import type { Plugin } from 'graphql-yoga';
import { parseDocument, validateDocument } from '../../graph/document.ts';
import { MAX_ERRORS } from './error-limit.ts';

/** Holds every document to its limits, whatever it came by; see graph/document.ts for what `closed` closes. */
export const useDocumentLimits = ({ closed }: { readonly closed: boolean }): Plugin => ({
  onParse: ({ setParseFn }) => setParseFn(parseDocument),
  onValidate: ({ setValidationFn }) =>
    setValidationFn((schema, document) =>
      validateDocument(schema, document, { maxErrors: MAX_ERRORS, closed }),
    ),
  // Variables are coerced by the executor, which knows names that are nearly right too.
  onExecute: ({ args }) => void Object.assign(args, { hideSuggestions: closed }),
  onSubscribe: ({ args }) => void Object.assign(args, { hideSuggestions: closed }),
});
