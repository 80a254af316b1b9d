import { type DebugSignatureResponse, SignatureScheme } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { ReactNode } from "react";
import { MISTAKES, SIGNATURE } from "../../text/en/deliveries.ts";
import { Status, type Tone } from "../../ui/status.tsx";
import styles from "./deliveries.module.css";
import { spanText } from "./duration.ts";

const SCHEMES: Readonly<Record<SignatureScheme, string>> = {
  [SignatureScheme.UNSPECIFIED]: "",
  [SignatureScheme.SERVICE]: "X-Service-Signature",
  [SignatureScheme.STANDARD_WEBHOOKS]: "webhook-signature",
};

/** What was found about a signature, in words. */
export function SignatureResult({ of }: { of: DebugSignatureResponse }) {
  if (of.scheme === SignatureScheme.UNSPECIFIED)
    return (
      <Verdict tone="bad" title={SIGNATURE.noScheme}>
        <p>{SIGNATURE.noSchemeText}</p>
      </Verdict>
    );
  if (of.headerFault !== "")
    return (
      <Verdict tone="bad" title={SIGNATURE.malformed}>
        <p>
          {SCHEMES[of.scheme]}: {of.headerFault}.
        </p>
      </Verdict>
    );
  return (
    <Verdict
      tone={of.signatureMatches ? "good" : "bad"}
      title={of.signatureMatches ? SIGNATURE.right : SIGNATURE.wrong}
    >
      {of.signatureMatches ? <p>{SIGNATURE.rightText}</p> : <Reasons of={of} />}
      <TimeVerdict of={of} />
    </Verdict>
  );
}

function Verdict({ tone, title, children }: { tone: Tone; title: string; children: ReactNode }) {
  return (
    <div className={styles.result}>
      <Status tone={tone}>{title}</Status>
      {children}
    </div>
  );
}

function Reasons({ of: { mistakes, bodyDiffersAt, secretReplacedSince } }: { of: DebugSignatureResponse }) {
  const isUnexplained = mistakes.length === 0 && bodyDiffersAt === undefined && !secretReplacedSince;
  return (
    <ul>
      {mistakes.map((mistake) => (
        <li key={mistake}>{MISTAKES[mistake] ?? SIGNATURE.unknown}</li>
      ))}
      {bodyDiffersAt !== undefined && (
        <li>
          The body differs from the one that was sent, from byte {bodyDiffersAt.toLocaleString("en")} (counted from 0).
        </li>
      )}
      {secretReplacedSince && <li>{SIGNATURE.replaced}</li>}
      {isUnexplained && <li>{SIGNATURE.unknown}</li>}
    </ul>
  );
}

function TimeVerdict({ of: { timeWithinTolerance, secondsOff } }: { of: DebugSignatureResponse }) {
  const seconds = Number(secondsOff);
  const span = spanText(Math.abs(seconds) * 1_000);
  const off = seconds === 0 ? "at the time of receipt" : `${span} ${seconds > 0 ? "before" : "after"} it was received`;
  return (
    <>
      <Status tone={timeWithinTolerance ? "good" : "warn"}>
        {timeWithinTolerance ? SIGNATURE.inTime : SIGNATURE.tooLate}
      </Status>
      <p>It was signed {off}; receivers allow 5 min.</p>
    </>
  );
}
