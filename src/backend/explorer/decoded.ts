import { type Revert, revertBy, revertOf } from '../evm/revert.ts';
import type { Decoded, Hex } from '../types.ts';
import type { ExplorerTransaction } from './client/rows.ts';

type ExplorerDecoded = ExplorerTransaction['decoded_input'];

/** What an explorer decoded, such as `transfer(address to, uint256 value)` with its values; null where it could not. */
export const decodedIn = (decoded: ExplorerDecoded): Decoded | null => {
  if (decoded === null) return null;
  const [name = ''] = decoded.method_call.split('(');
  if (name === '') return null;
  const inputs = decoded.parameters.map((each) =>
    /address|tuple/.test(each.type) ? { ...each, value: inLowerCase(each.value) } : each,
  );
  return { name: name.trim(), inputs };
};

/** A value with its addresses as they are written everywhere else. */
const inLowerCase = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inLowerCase);
  return typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value) ? value.toLowerCase() : value;
};

/** Why a transaction failed, as the explorer says it: the error's data, the decoded error, or a word such as `out of gas`. */
export const revertIn = ({ revert_reason: reason, result }: ExplorerTransaction): Revert => {
  const raw = memberOf(reason, 'raw');
  const data = typeof reason === 'string' ? reason : raw;
  if (isHex(data)) return revertOf({ data, halted: null }, () => null);
  const decoded = decodedErrorIn(reason);
  if (decoded !== null) return revertBy(decoded);
  return { message: typeof data === 'string' && data !== '' ? data : result, data: null, decoded: null };
};

const isHex = (value: unknown): value is Hex =>
  typeof value === 'string' && /^0x(?:[0-9a-f]{2})+$/i.test(value);

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

const decodedErrorIn = (reason: unknown): Decoded | null => {
  const call = memberOf(reason, 'method_call');
  const parameters = memberOf(reason, 'parameters');
  if (typeof call !== 'string' || !Array.isArray(parameters)) return null;
  const inputs = parameters.flatMap((parameter: unknown) => {
    const [name, type] = [memberOf(parameter, 'name'), memberOf(parameter, 'type')];
    const value = memberOf(parameter, 'value');
    return typeof name === 'string' && typeof type === 'string' ? [{ name, type, value }] : [];
  });
  return decodedIn({ method_call: call, method_id: null, parameters: inputs });
};
