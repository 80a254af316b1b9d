import type { Isolation } from "./detect.ts";
import { LAYERS, MINIMUM_LAYERS } from "./layers.ts";

type Log = { info: (fields: Record<string, unknown>, message: string) => void };

/** Reports the layers around sandbox children in one line. Throws when the minimum is required and one of it is missing. */
export function reportIsolation({ layers }: Isolation, isRequired: boolean, log: Log): void {
  const missing = LAYERS.filter((layer) => !layers.has(layer));
  log.info({ active: [...layers].join(", "), missing: missing.join(", ") }, "sandbox isolation");
  const needed = missing.filter((layer) => MINIMUM_LAYERS.includes(layer));
  if (!isRequired || needed.length === 0) return;
  throw new Error(
    `this machine cannot isolate sandbox children (missing: ${needed.join(", ")}): see docs/operators.md, or set SANDBOX_DANGEROUSLY_WEAK_ISOLATION=true`,
  );
}
