import { badUserInput } from './errors.ts';

export type GlobalId = { readonly typename: string; readonly id: string };

export const encodeGlobalId = (typename: string, id: string | number | bigint): string =>
  Buffer.from(`${typename}:${id}`).toString('base64');

/** Throws BAD_USER_INPUT. Strict, so that an object has one id: base64 that differs in padding is not an id. */
export const decodeGlobalId = (globalId: string): GlobalId => {
  const decoded = Buffer.from(globalId, 'base64').toString();
  const [, typename, id] = /^([A-Za-z_]\w*):(.+)$/s.exec(decoded) ?? [];
  if (typename === undefined || id === undefined || encodeGlobalId(typename, id) !== globalId)
    throw badUserInput('Expected the id of a Node, got something that is not an id of this gateway.');
  return { typename, id };
};
