import type { Attempt } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { NO_RESPONSE_PHASE, PHASES } from "../../text/en/webhooks/deliveries.ts";
import styles from "./attempts.module.css";
import { tookText } from "./duration.ts";

type Phase = keyof typeof PHASES;

/** Where the time of an attempt went: a bar, and the same as text. */
export function Phases({ of }: { of: Attempt }) {
  const phases = phasesOf(of);
  if (phases.length === 0) return null;
  return (
    <div>
      <div className={styles.bar} aria-hidden="true">
        {phases.map(([phase, ms]) => (
          <span key={phase} data-phase={phase} style={{ flex: `${ms} 1 0` }} />
        ))}
      </div>
      <ul className={styles.legend}>
        {phases.map(([phase, ms]) => (
          <li key={phase}>
            <i data-phase={phase} aria-hidden="true" />
            {phase === "restMs" && of.responseCode === 0 ? NO_RESPONSE_PHASE : PHASES[phase]} {tookText(ms)}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The phases that took time; the rest is what is left of the duration, such as reading the body. */
function phasesOf({ dnsMs, connectMs, tlsMs, firstByteMs, durationMs }: Attempt): [Phase, number][] {
  const restMs = Math.max(0, durationMs - dnsMs - connectMs - tlsMs - firstByteMs);
  const all = Object.entries({ dnsMs, connectMs, tlsMs, firstByteMs, restMs }) as [Phase, number][];
  return all.filter(([, ms]) => ms > 0);
}
