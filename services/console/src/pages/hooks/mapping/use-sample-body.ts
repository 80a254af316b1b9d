import { useQuery } from "@connectrpc/connect-query";
import { HookDeliveryService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { useWorkspace } from "../../../rpc/use-session.ts";

/** The body of a dry run: that of a logged delivery, or a pasted one. */
export interface Sample {
  /** Empty: a pasted body. */
  deliveryId: string;
  pasted: string;
}

export const NO_SAMPLE: Sample = { deliveryId: "", pasted: "" };

/** The text of the body; empty while there is none. */
export function useSampleBody({ deliveryId, pasted }: Sample): string {
  const workspace = useWorkspace();
  const { data } = useQuery(
    HookDeliveryService.method.getHookDelivery,
    { workspace, deliveryId },
    { enabled: deliveryId !== "" },
  );
  if (deliveryId === "") return pasted;
  return data ? new TextDecoder().decode(data.body) : "";
}
