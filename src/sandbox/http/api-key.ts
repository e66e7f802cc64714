import { createHash, timingSafeEqual } from 'node:crypto';

const digest = (value: string) => createHash('sha256').update(value).digest();

/** Compares in constant time, whatever the lengths. */
export const createKeyCheck = (apiKey: string): ((sent: string | undefined) => boolean) => {
  const expected = digest(apiKey);
  return (sent) => sent !== undefined && timingSafeEqual(digest(sent), expected);
};
