import { createHmac } from 'node:crypto';

/** Makes names of what gateways share, which show nothing of it. Gateways with another secret have other names. */
export type HashName = (...parts: readonly (string | null)[]) => string;

const CHARACTERS = 22;

export const createHashName =
  (secret: string): HashName =>
  (...parts) =>
    createHmac('sha256', secret).update(JSON.stringify(parts)).digest('base64url').slice(0, CHARACTERS);
