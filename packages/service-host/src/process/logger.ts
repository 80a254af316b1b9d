import { currentRequest } from "@toolgate/telemetry/request";
import { type DestinationStream, type Logger, pino } from "pino";
import { redacted } from "./redact.ts";

export type { Logger } from "pino";

interface LoggerOptions {
  service: string;
  /** trace, debug, info, warn, error, fatal or silent. */
  level: string;
  /** Default: standard output. */
  destination?: DestinationStream;
}

/** Log lines that wait for standard output to take them; more are dropped. */
const MAX_UNWRITTEN_CHARACTERS = 8 * 1024 * 1024;

/** One JSON line per entry. Secrets are removed at any depth, see `redacted`. */
export function createLogger({ service, level, destination }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { service },
      mixin: () => {
        const { requestId = "", span } = currentRequest() ?? {};
        return { ...(requestId !== "" && { requestId }), ...(span && { traceId: span.traceId }) };
      },
      formatters: {
        level: (label) => ({ level: label }),
        // Errors are still Error objects here; later they are JSON.
        log: (entry) => redacted(entry) as Record<string, unknown>,
      },
      serializers: { err: (error: unknown) => error },
      timestamp: pino.stdTimeFunctions.isoTime,
      // Redacts again, as only this hook sees the fields of child loggers and the message, which may be an error's.
      hooks: { streamWrite: (line) => `${JSON.stringify(redacted(JSON.parse(line)))}\n` },
    },
    destination ?? pino.destination({ dest: 1, sync: false, maxLength: MAX_UNWRITTEN_CHARACTERS }),
  );
}
