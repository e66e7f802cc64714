import { z } from 'zod';
import { commaList, type Environment, type Read } from './environment.ts';

/** Which trusted documents agents may call as tools. */
export type McpConfig = {
  /** The names of their operations; null for every query that has a name. */
  readonly tools: readonly string[] | null;
};

const operationNames = commaList.pipe(z.array(z.string().regex(/^[A-Za-z_]\w*$/)));

/** Reads the settings of MCP; null where it is off. */
export const readMcp = (env: Environment, read: Read, problems: string[]): McpConfig | null => {
  const isOn = read('MCP', z.enum(['on', 'off']), 'on or off') === 'on';
  const tools = read('MCP_TOOLS', operationNames, 'names of operations, comma-separated');
  if (isOn && !env.TRUSTED_DOCUMENTS)
    problems.push('MCP: expected TRUSTED_DOCUMENTS beside it, whose operations are the tools, got none');
  if (env.MCP_TOOLS && !isOn) problems.push('MCP_TOOLS: expected MCP=on beside it, got none');
  return isOn ? { tools } : null;
};
