import type { Behaviour } from "@toolgate/testbed/behaviour";
import { eventually } from "@toolgate/testbed/eventually";
import { expect } from "vitest";
import type { ConsoleRig } from "../console-rig.ts";

/** An endpoint that gets the events of one tool only, so that the tests of a file do not meet each other's deliveries. */
export interface Subscriber {
  id: string;
  url: string;
  secret: string;
  /** Makes one more event happen. */
  happen(): Promise<void>;
  /** What the receiver does from now on. */
  behave(behave: (index: number) => Behaviour): void;
  setActive(active: boolean): Promise<void>;
  /** Deliveries to it, newest first, once `count` of them are beyond their first attempt. */
  attempted(count: number): Promise<{ id: string; eventId: string; status: string }[]>;
}

interface SubscribeOptions {
  /** Default: a path of the receiver. */
  url?: string;
  /** The source of the tool whose runs are its events. */
  handler?: string;
}

export type Subscribe = (name: string, options?: SubscribeOptions) => Promise<Subscriber>;

const HANDLER = "export default () => ({ success: true });";
const ENDPOINTS = "outbound_webhook.v1.EndpointService";

/** Lets tests subscribe endpoints at the receiver, or at another URL. */
export async function webhookScene({ toolgate }: ConsoleRig): Promise<Subscribe> {
  const behaviours = new Map<string, (index: number) => Behaviour>();
  const counts = new Map<string, number>();
  toolgate.receiver.behave(({ path }) => {
    const index = counts.get(path) ?? 0;
    counts.set(path, index + 1);
    return behaviours.get(path)?.(index) ?? {};
  });
  return async (name, { url = `${toolgate.receiver.url}/${name}`, handler = HANDLER } = {}) => {
    await toolgate.saveTool(name, { external_api: true, webhook_event: true, handler });
    const key = await toolgate.createKey({ name, tools: [name], limit: 1_000 });
    const { endpoint, secret } = await toolgate.manage<{ endpoint: { id: string }; secret: string }>(
      `${ENDPOINTS}/CreateEndpoint`,
      { url, events: ["tool.completed"], tools: [name] },
    );
    const { id } = endpoint;
    return {
      ...{ id, url, secret },
      async happen() {
        expect(await toolgate.call(name, key.secret)).toMatchObject({ status: 200 });
      },
      behave(behave) {
        counts.delete(`/${name}`);
        behaviours.set(`/${name}`, behave);
      },
      async setActive(active) {
        await toolgate.manage(`${ENDPOINTS}/UpdateEndpoint`, { endpointId: id, active });
      },
      attempted: (count) =>
        eventually(async () => {
          const { deliveries = [] } = await toolgate.manage<{
            deliveries?: { id: string; eventId: string; status: string; attempts?: number }[];
          }>("outbound_webhook.v1.DeliveryService/ListDeliveries", { endpointId: id });
          return deliveries.filter(({ attempts = 0 }) => attempts > 0).length >= count && deliveries;
        }),
    };
  };
}
