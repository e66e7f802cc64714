import { badUserInput } from './errors.ts';

/** The type and the type's own id of an object. Base64 of `typename:id` is its global id. */
export type GlobalId = { readonly typename: string; readonly id: string };

export const encodeGlobalId = (typename: string, id: string | number | bigint): string =>
  Buffer.from(`${typename}:${id}`).toString('base64');

/**
 * Decodes a global id. Throws BAD_USER_INPUT for any text that `encodeGlobalId` does not return, such as base64 with other
 * padding: an object has one id.
 */
export const decodeGlobalId = (globalId: string): GlobalId => {
  const decoded = Buffer.from(globalId, 'base64').toString();
  const [, typename, id] = /^([A-Za-z_]\w*):(.+)$/s.exec(decoded) ?? [];
  if (typename === undefined || id === undefined || encodeGlobalId(typename, id) !== globalId)
    throw badUserInput('Expected the id of a Node, got something that is not an id of this gateway.');
  return { typename, id };
};
