export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ['json', 'text'] as const;

export type LogFormat = (typeof LOG_FORMATS)[number];

/** The fields of a line. Never a key, a token, a secret or a delivery URL, which contains its token. */
type LogFields = Readonly<Record<string, unknown>>;

export type Log = Readonly<Record<LogLevel, (msg: string, fields?: LogFields) => void>> & {
  /** Whether lines of the level are written. */
  writes(level: LogLevel): boolean;
};

/** Writes an event as one line, with the time in ISO 8601: a JSON object, or text with the fields as JSON at its end. */
const FORMATS: Readonly<Record<LogFormat, (level: LogLevel, msg: string, fields?: LogFields) => string>> = {
  json: (level, msg, fields) => JSON.stringify({ level, time: new Date().toISOString(), msg, ...fields }),
  text: (level, msg, fields) =>
    [new Date().toISOString(), level.padEnd(5), msg, ...(fields ? [JSON.stringify(fields)] : [])].join(' '),
};

/** Writes one line for each event, with the fields `common` first. Lines below `threshold` are not serialised. */
export const createLog = (
  threshold: LogLevel,
  write: (line: string) => void,
  format: LogFormat = 'json',
  common?: LogFields,
): Log => {
  const writes = (level: LogLevel): boolean => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(threshold);
  const withCommon = (fields?: LogFields) => (common ? { ...common, ...fields } : fields);
  const at = (level: LogLevel): Log[LogLevel] =>
    writes(level) ? (msg, fields) => write(`${FORMATS[format](level, msg, withCommon(fields))}\n`) : () => {};
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), writes };
};
