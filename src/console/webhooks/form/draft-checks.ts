import { shorten } from '../../format/text.ts';
import { isAddress } from '../../state/route.ts';
import { parseAddresses, wrongAddresses } from '../addresses/pasted-addresses.ts';
import { type Creation, type Settings, settingsOf } from './draft.ts';

type Errors = Readonly<Record<string, string>>;

const got = (text: string): string => `got “${shorten(text, 60)}”.`;

const wrongAddress = (text: string): string | null =>
  isAddress(text) ? null : `Expected an address (0x and 40 hex digits), ${got(text)}`;

const wrongUrl = (text: string): string | null =>
  /^https?:\/\/\S+$/i.test(text) && URL.canParse(text)
    ? null
    : `Expected a whole URL with http:// or https://, ${got(text)}`;

const CHECKS: Readonly<Partial<Record<keyof Settings, (text: string) => string | null>>> = {
  url: wrongUrl,
  tokenAddress: wrongAddress,
  counterparty: wrongAddress,
};

/** What is wrong, by its field. An empty text is a setting that is not there. */
export const wrongSettings = (draft: Settings, settings: readonly (keyof Settings)[]): Errors => {
  const errors: Record<string, string> = {};
  for (const setting of settings) {
    const value = draft[setting];
    const text = typeof value === 'string' ? value.trim() : '';
    const error = text === '' ? null : CHECKS[setting]?.(text);
    if (error) errors[setting] = error;
  }
  return errors;
};

export const wrongCreation = (draft: Creation): Errors => {
  const addresses = wrongAddresses(parseAddresses(draft.addresses));
  return {
    ...wrongSettings(draft, settingsOf(draft.type)),
    ...(draft.name.trim() === '' ? { name: 'Expected a name, got none.' } : {}),
    ...(addresses === null ? {} : { addresses }),
  };
};
