import { eventTypeOf, isSubscribable } from "@toolgate/event-schemas/catalogue";
import { webhookTest } from "@toolgate/event-schemas/types/webhook-test";
import { type EndpointService, EndpointStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { generateSecret } from "@toolgate/webhook-signing/secret";
import type { Context } from "../../context.ts";
import { sealingContext } from "../../domain/endpoint.ts";
import { envelopeBytes } from "../../domain/envelope.ts";
import { newEventId } from "../../domain/incoming-event.ts";
import { addTest } from "../../store/deliveries/single-delivery.ts";
import {
  deleteEndpoint,
  type EndpointStatusName,
  findEndpoint,
  listEndpoints,
  lockWorkspace,
  replaceSecret,
} from "../../store/endpoint.ts";
import { readHealth } from "../../store/log/health.ts";
import { auditEndpoint } from "../audit.ts";
import { endpointKey, invalidArgument, noSuchEndpoint, requireEndpoint } from "../request-fields.ts";
import { MAX_WAITING_COUNTED, toEndpoint, toHealth } from "./endpoint-message.ts";

const STATUS_NAMES: Partial<Record<EndpointStatus, EndpointStatusName>> = {
  [EndpointStatus.ACTIVE]: "active",
  [EndpointStatus.FAILING]: "failing",
  [EndpointStatus.DEACTIVATED]: "deactivated",
};

const TEST_MESSAGE = "This is a test event.";

export const endpointHandlers = {
  async listEndpoints({ pool, now }, { search, status }, call) {
    const { workspaceId } = principalOf(call);
    const statusName = STATUS_NAMES[status];
    if (status !== EndpointStatus.UNSPECIFIED && !statusName) throw invalidArgument("status: not a known status");
    const rows = await listEndpoints(pool, workspaceId, { search, status: statusName });
    const ids = rows.map(({ id }) => id);
    const health = await readHealth(pool, workspaceId, ids, MAX_WAITING_COUNTED);
    const at = now();
    // One that was deleted in between is not shown.
    const shown = rows.flatMap((row) => {
      const found = health.get(row.id);
      return found ? [{ endpoint: toEndpoint(row), health: toHealth(found, at) }] : [];
    });
    return { endpoints: shown.map((row) => row.endpoint), health: shown.map((row) => row.health) };
  },

  async getEndpoint({ pool, now }, { endpointId }, call) {
    const key = endpointKey(principalOf(call), endpointId);
    const row = await requireEndpoint(pool, key);
    const health = (await readHealth(pool, key.workspaceId, [row.id], MAX_WAITING_COUNTED)).get(row.id);
    if (!health) throw noSuchEndpoint();
    return { endpoint: toEndpoint(row), health: toHealth(health, now()) };
  },

  async deleteEndpoint({ pool, cancelWakeUp, announceWork, now }, { endpointId }, call) {
    const principal = principalOf(call);
    const key = endpointKey(principal, endpointId);
    const deleted = await inTransaction(pool, async (client) => {
      await lockWorkspace(client, key.workspaceId);
      const at = now();
      const endpoint = await findEndpoint(client, key);
      if (!endpoint || !(await deleteEndpoint(client, key, at))) return false;
      await auditEndpoint(client, endpoint, { principal, at, action: "endpoint.delete" });
      return true;
    });
    // A dispatcher skips a workspace while it is locked.
    announceWork();
    if (!deleted) throw noSuchEndpoint();
    cancelWakeUp.signal();
    return {};
  },

  async rotateSecret({ pool, secretBox, now }, { endpointId }, call) {
    const principal = principalOf(call);
    const key = endpointKey(principal, endpointId);
    const secret = generateSecret();
    const sealed = secretBox.seal(secret, sealingContext(key.endpointId));
    await inTransaction(pool, async (client) => {
      const at = now();
      if (!(await replaceSecret(client, key, sealed, at))) throw noSuchEndpoint();
      const endpoint = await requireEndpoint(client, key);
      await auditEndpoint(client, endpoint, { principal, at, action: "endpoint.rotate" });
    });
    return { secret };
  },

  async sendTestEvent({ queuePool, queue, announceWork, now }, { endpointId, type }, call) {
    const { workspaceId, workspace, email } = principalOf(call);
    const key = endpointKey({ workspaceId }, endpointId);
    const at = now();
    const isTest = type === "" || type === webhookTest.type;
    const kind = isTest ? webhookTest : eventTypeOf(type);
    if (!kind || (!isTest && !isSubscribable(type))) throw invalidArgument("type: not in the catalogue");
    const data = isTest ? { message: TEST_MESSAGE, endpoint_id: key.endpointId, triggered_by: email } : kind.example;
    const event = { id: newEventId(), type: isTest ? webhookTest.type : type };
    const createdSeconds = Math.floor(at.getTime() / 1000);
    const body = envelopeBytes({ ...event, createdSeconds, workspace, dataJson: JSON.stringify(data) });
    if (!body) throw new Error("the test event is too large");
    const deliveryId = await addTest(queuePool, queue, key, { ...event, body }, at);
    if (!deliveryId) throw noSuchEndpoint();
    announceWork();
    return { deliveryId };
  },
} satisfies Handlers<Context, typeof EndpointService>;
