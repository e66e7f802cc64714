import { randomBytes } from 'node:crypto';

/** The one team of the sandbox's key, a ULID. */
export const TEAM_ID = '01JZ4R2V8W7Q5N3M1K9H6F0D2B';

/** A new UUIDv7: the time in milliseconds, then 74 random bits. */
export const uuidV7 = (milliseconds: number): string => {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Math.floor(milliseconds), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};
