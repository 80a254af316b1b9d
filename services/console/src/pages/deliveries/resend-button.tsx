import { useMutation } from "@connectrpc/connect-query";
import { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { DELIVERIES } from "../../text/en/webhooks/deliveries.ts";
import { Button } from "../../ui/button.tsx";
import { FailureText } from "../../ui/page/failure.tsx";

interface ResendButtonProps {
  deliveryId: string;
  isPrimary?: boolean;
  /** Called with the id of the new delivery. */
  onResent: (deliveryId: string) => void;
}

/** [OUT-51] Sends the event of a delivery again, whatever has become of it. */
export function ResendButton({ deliveryId, isPrimary = false, onResent }: ResendButtonProps) {
  const workspace = useWorkspace();
  const { error, isPending, mutate } = useMutation(DeliveryService.method.resendDelivery);
  return (
    <>
      <Button
        kind={isPrimary ? "primary" : "plain"}
        title={DELIVERIES.resendHint}
        pending={isPending}
        onClick={() => mutate({ workspace, deliveryId }, { onSuccess: (made) => onResent(made.deliveryId) })}
      >
        {DELIVERIES.resend}
      </Button>
      {error && <FailureText failure={failureOf(error)} />}
    </>
  );
}
