import type { Chains } from './chains.ts';
import { Differs, differs, expecting, type Finding, LONGEST, membersOf } from './finding.ts';
import type { Answer, Service } from './service.ts';
import type { Wallets } from './wallets.ts';
import type { OwnWebhooks } from './webhooks.ts';

/** What a point may use: the service that is judged, and where its data is. */
export type Judged = {
  readonly service: Service;
  readonly chains: Chains;
  readonly wallets: Wallets;
  /** Webhooks of the run's own; null when it must not write. */
  readonly own: OwnWebhooks | null;
};

/** One promise of the contract that can be checked. */
export type Point = {
  /** What it is about, such as `GET /v1/evm/transactions/{address}`: points of the same are shown together. */
  readonly operation: string;
  /** The promise, as the sentence that follows the name of the operation. */
  readonly expects: string;
  /** The part of the published documents that makes the promise. */
  readonly source: string;
  /**
   * Resolves to what differs; to nothing when all is as it should be.
   * @throws Skipped when it can't be judged, Differs when an answer leaves nothing to judge.
   */
  readonly check: (judged: Judged) => Promise<readonly Finding[]>;
};

/** An answer's status and the beginning of its body. */
export const summary = ({ status, text }: Answer): string =>
  text === '' ? `${status} without a body` : `${status} ${text.replaceAll(/\s+/g, ' ').slice(0, LONGEST)}`;

/** The JSON of a 200. @throws Differs for any other answer. */
export const bodyOf = (answer: Answer): unknown => {
  if (answer.status !== 200) throw new Differs(differs('200', summary(answer)));
  if (answer.json === undefined) throw new Differs(differs('JSON', summary(answer)));
  return answer.json;
};

/** The forms in which services write errors: `{"error": "…"}`, `{"message": "…"}`, `{"error": {"message", "code"}}`, text. */
export type ErrorForm = 'error' | 'message' | 'coded' | 'text';

const formOf = ({ json, text }: Answer): ErrorForm | null => {
  if (json === undefined) return text.trim() === '' ? null : 'text';
  const { error, message } = membersOf(json);
  if (typeof error === 'string') return 'error';
  if (typeof message === 'string') return 'message';
  const inner = membersOf(error);
  return typeof inner.message === 'string' && typeof inner.code === 'string' ? 'coded' : null;
};

const FORMS: Readonly<Record<ErrorForm, string>> = {
  error: '{"error": "…"}',
  message: '{"message": "…"}',
  coded: '{"error": {"message": "…", "code": "…"}}',
  text: 'plain text',
};

/**
 * That a request is refused: with the documented status and form where there are such. Another 4xx and another readable
 * form are notes, because clients must read them all; anything else differs.
 */
export const refusal = (answer: Answer, status = 400, form: ErrorForm | null = null): readonly Finding[] => {
  if (answer.status < 400 || answer.status >= 500) return [differs(`a refusal (${status})`, summary(answer))];
  const written = formOf(answer);
  return [
    ...expecting(answer.status === status, `status ${status}`, summary(answer), 'note'),
    ...(form === null
      ? expecting(written !== null, 'an error that says what is wrong', summary(answer), 'note')
      : expecting(written === form, `an error as ${FORMS[form]}`, summary(answer), 'note')),
  ];
};
