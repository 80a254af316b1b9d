import type { ConnectRouter } from "@connectrpc/connect";
import { HookDeliveryService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { bind } from "@toolgate/service-host/handler";
import type { ReceiverContext } from "../context.ts";
import { getHookDelivery } from "./deliveries/get-hook-delivery.ts";
import { listHookDeliveries } from "./deliveries/list-hook-deliveries.ts";
import { listRefusedCalls } from "./deliveries/list-refused-calls.ts";
import { reprocessHookDelivery } from "./deliveries/reprocess-hook-delivery.ts";
import { tryMapping } from "./deliveries/try-mapping.ts";
import { createHook } from "./hooks/create-hook.ts";
import { deleteHook } from "./hooks/delete-hook.ts";
import { getHook } from "./hooks/get-hook.ts";
import { getHookOverview } from "./hooks/get-hook-overview.ts";
import { listHooks } from "./hooks/list-hooks.ts";
import { rotateHookSecret } from "./hooks/rotate-hook-secret.ts";
import { updateHook } from "./hooks/update-hook.ts";

export function registerRoutes(router: ConnectRouter, context: ReceiverContext): void {
  router.service(
    HookService,
    bind(context, { createHook, listHooks, getHook, updateHook, deleteHook, rotateHookSecret, getHookOverview }),
  );
  router.service(
    HookDeliveryService,
    bind(context, { listHookDeliveries, getHookDelivery, listRefusedCalls, reprocessHookDelivery, tryMapping }),
  );
}
