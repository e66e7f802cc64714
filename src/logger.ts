export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** The fields of a line. Never a key, a token, a secret or a delivery URL, which contains its token. */
type LogFields = Readonly<Record<string, unknown>>;

export type Log = Readonly<Record<LogLevel, (msg: string, fields?: LogFields) => void>>;

/** Writes one JSON object a line, with `time` in ISO 8601. Lines below `threshold` are not serialised. */
export const createLog = (threshold: LogLevel, write: (line: string) => void): Log => {
  const at = (level: LogLevel): Log[LogLevel] =>
    LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(threshold)
      ? () => {}
      : (msg, fields) =>
          write(`${JSON.stringify({ level, time: new Date().toISOString(), msg, ...fields })}\n`);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
};
