import { type DestinationStream, type Logger, pino } from "pino";
import { redacted } from "./redact.ts";

export type { Logger } from "pino";

export interface LoggerOptions {
  service: string;
  /** trace, debug, info, warn, error, fatal or silent. */
  level: string;
  /** Default: standard output. */
  destination?: DestinationStream;
}

/** Of lines that nobody takes from the standard output; further ones are dropped. */
const MAX_UNWRITTEN_CHARACTERS = 8 * 1024 * 1024;

/** One JSON line per entry. Secrets are removed at any depth, see `redacted`. */
export function createLogger({ service, level, destination }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { service },
      formatters: {
        level: (label) => ({ level: label }),
        // Here errors still are errors.
        log: (entry) => redacted(entry) as Record<string, unknown>,
      },
      serializers: { err: (error: unknown) => error },
      timestamp: pino.stdTimeFunctions.isoTime,
      // And here all is there: the message, which may be an error's, and the members of child loggers.
      hooks: { streamWrite: (line) => `${JSON.stringify(redacted(JSON.parse(line)))}\n` },
    },
    destination ?? pino.destination({ dest: 1, sync: false, maxLength: MAX_UNWRITTEN_CHARACTERS }),
  );
}
