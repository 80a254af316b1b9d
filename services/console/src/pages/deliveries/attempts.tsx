import { type Attempt, type Delivery, Wait } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { DELIVERIES } from "../../text/en/webhooks/deliveries.ts";
import { BodyView } from "../../ui/code/body-view.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import styles from "./attempts.module.css";
import { answerText, hasEnded } from "./delivery-sentence.ts";
import { tookText } from "./duration.ts";
import { Phases } from "./phases.tsx";

/** [OUT-13] */
const KEPT_CHARACTERS = 1_000;

interface AttemptsProps {
  of: readonly Attempt[];
  delivery: Delivery;
}

/** The attempts of a delivery in their order, and when the next one is. */
export function Attempts({ of, delivery }: AttemptsProps) {
  if (of.length === 0 && hasEnded(delivery)) return <p className={styles.dim}>{DELIVERIES.noAttempts}</p>;
  return (
    <ol className={styles.timeline}>
      {of.map((attempt, index) => (
        <OneAttempt key={attempt.number} of={attempt} isOpen={index === of.length - 1} />
      ))}
      {!hasEnded(delivery) && <NextAttempt of={delivery} />}
    </ol>
  );
}

function NextAttempt({ of: { attempts, waitsFor, nextAttemptAt } }: { of: Delivery }) {
  return (
    <li className={styles.attempt}>
      <div className={styles.head}>
        <strong>Attempt {attempts + 1}</strong>
        <Status tone="dim" icon="wait">
          {waitsFor === Wait.IN_FLIGHT ? DELIVERIES.nextUnderWay : "Waiting"}
        </Status>
        {nextAttemptAt && (
          <span className={styles.when}>
            <Time at={nextAttemptAt} exact />
          </span>
        )}
      </div>
    </li>
  );
}

function OneAttempt({ of, isOpen }: { of: Attempt; isOpen: boolean }) {
  const isOk = of.responseCode >= 200 && of.responseCode < 300;
  return (
    <li className={styles.attempt} data-ok={isOk}>
      <div className={styles.head}>
        <strong>Attempt {of.number}</strong>
        <Status tone={isOk ? "good" : "bad"}>{of.responseCode === 0 ? "No response" : String(of.responseCode)}</Status>
        <span>{tookText(of.durationMs)}</span>
        <span className={styles.when}>
          <Time at={of.at} exact />
        </span>
      </div>
      {of.responseCode === 0 && <p>{answerText(of)}</p>}
      <Phases of={of} />
      {of.address !== "" && (
        <details open={isOpen}>
          <summary>{DELIVERIES.details}</summary>
          <AttemptDetails of={of} />
        </details>
      )}
    </li>
  );
}

function AttemptDetails({ of: { number, response, responseCode, address, headers, signaturesGone } }: { of: Attempt }) {
  const noBody = responseCode === 0 ? DELIVERIES.noResponse : DELIVERIES.noResponseBody;
  return (
    <div className={styles.details}>
      <h4>{DELIVERIES.response}</h4>
      {response === "" ? (
        <p className={styles.dim}>{noBody}</p>
      ) : (
        <BodyView
          label={`${DELIVERIES.response}, attempt ${number}`}
          body={new TextEncoder().encode(response)}
          fileName={`response-${number}.txt`}
        />
      )}
      {[...response].length >= KEPT_CHARACTERS && <p className={styles.dim}>{DELIVERIES.responseCut}</p>}
      <p className={styles.dim}>
        {DELIVERIES.address}: {address}
      </p>
      {headers.length === 0 && <p className={styles.dim}>{DELIVERIES.headersGone}</p>}
      {headers.length > 0 && (
        <details>
          <summary>{DELIVERIES.headers}</summary>
          {signaturesGone && <p className={styles.dim}>{DELIVERIES.signaturesGone}</p>}
          <dl className={styles.headers}>
            {headers.map(({ name, value }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  );
}
