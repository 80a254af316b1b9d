import {
  type DebugSignatureResponse,
  SignatureMistake,
  SignatureScheme,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { MISTAKES, SIGNATURES } from "../../text/en/webhooks/signatures.ts";
import { Status } from "../../ui/status.tsx";
import styles from "./signature.module.css";

/** The checks of a receiver one by one, and what its author should change. */
export function SignatureFindings({ of }: { of: DebugSignatureResponse }) {
  const { scheme, headerFault, signatureMatches, timeWithinTolerance, secondsOff } = of;
  if (headerFault !== "") return <Finding passes={false} title={SIGNATURES.malformed} text={headerFault} />;
  if (scheme === SignatureScheme.UNSPECIFIED) return <Finding passes={false} title={SIGNATURES.noHeader} />;
  const advice = adviceOf(of);
  return (
    <ul className={styles.findings}>
      <li>
        <Finding passes={signatureMatches} title={signatureMatches ? SIGNATURES.matches : SIGNATURES.differs} />
        {advice.map((text) => (
          <p key={text}>{text}</p>
        ))}
      </li>
      <li>
        <Finding
          passes={timeWithinTolerance}
          title={timeWithinTolerance ? SIGNATURES.inTime : SIGNATURES.outOfTime}
          text={timeWithinTolerance ? "" : SIGNATURES.offText(Number(secondsOff))}
        />
      </li>
    </ul>
  );
}

function Finding({ passes, title, text = "" }: { passes: boolean; title: string; text?: string }) {
  return (
    <div>
      <Status tone={passes ? "good" : "bad"}>{title}</Status>
      {text !== "" && <p>{text}</p>}
    </div>
  );
}

function adviceOf({
  mistakes,
  bodyDiffersAt,
  secretReplacedSince,
  signatureMatches,
}: DebugSignatureResponse): string[] {
  if (signatureMatches) return [];
  const advice = mistakes.filter((each) => each !== SignatureMistake.UNSPECIFIED).map((each) => MISTAKES[each]);
  if (bodyDiffersAt !== undefined) advice.push(SIGNATURES.differsAt(bodyDiffersAt));
  if (secretReplacedSince) advice.push(SIGNATURES.secretReplaced);
  return advice.length > 0 ? advice : [SIGNATURES.unknownReason];
}
