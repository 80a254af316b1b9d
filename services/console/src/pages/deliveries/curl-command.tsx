import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useMutation } from "@connectrpc/connect-query";
import { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { DELIVERIES } from "../../text/en/webhooks/deliveries.ts";
import { Button } from "../../ui/button.tsx";
import { useNow } from "../../ui/clock.ts";
import { CopyButton } from "../../ui/code/copy.tsx";
import { ScrollText } from "../../ui/code/scroll-text.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Time } from "../../ui/time.tsx";
import styles from "./deliveries.module.css";

/** A command that repeats the delivery; made on demand, because its signature is valid for minutes only. */
export function CurlCommand({ deliveryId }: { deliveryId: string }) {
  const workspace = useWorkspace();
  const now = useNow();
  const { data, error, isPending, mutate } = useMutation(DeliveryService.method.getDeliveryAsCurl);
  const make = () => mutate({ workspace, deliveryId });
  const isOver = data?.validUntil !== undefined && timestampMs(data.validUntil) < now;
  return (
    <>
      <p className={styles.dim}>{DELIVERIES.curlText}</p>
      {error && <FailureText failure={failureOf(error)} />}
      {data && (
        <>
          <ScrollText label="curl command" className={styles.command}>
            {data.command}
          </ScrollText>
          <p className={styles.dim}>
            {isOver ? DELIVERIES.curlOver : DELIVERIES.curlValid} <Time at={data.validUntil} exact />.
          </p>
        </>
      )}
      <div className={styles.row}>
        {data && <CopyButton text={data.command} />}
        <Button pending={isPending} onClick={make}>
          {data ? DELIVERIES.makeCurlAgain : DELIVERIES.makeCurl}
        </Button>
      </div>
    </>
  );
}
