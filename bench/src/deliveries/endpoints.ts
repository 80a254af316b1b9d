import { inTurns } from "../calls/tool-and-keys.ts";
import type { BenchInstallation } from "../installation/start-installation.ts";
import type { EventTarget } from "./messages.ts";

/** Endpoints, each of which subscribes to a type of its own, and the path under which the receiver knows it. */
export type EndpointSet = { targets: EventTarget[]; paths: string[] };

/** How many endpoints, in how many workspaces. */
export type EndpointCounts = { endpoints: number; workspaces: number };

const AT_ONCE = 8;
/** As many as there are connections: each holds one while it hashes a password. */
const WORKSPACES_AT_ONCE = 2;

/**
 * Registers endpoints over the management API. Neighbours in the list belong to different workspaces, so that events
 * taken in turn load all workspaces evenly.
 */
export async function registerEndpoints(
  installation: BenchInstallation,
  receiverUrl: string,
  { endpoints, workspaces }: EndpointCounts,
): Promise<EndpointSet> {
  const names = Array.from({ length: workspaces }, (_, index) => `hooks-${endpoints}-${index}`);
  const ids = await inTurns(names, WORKSPACES_AT_ONCE, (name) => installation.addWorkspace(name));
  const plan = Array.from({ length: endpoints }, (_, index) => {
    const at = index % names.length;
    return { workspace: names[at] as string, workspaceId: ids[at] as string, type: `custom.e${index}` };
  });
  const paths = plan.map((_, index) => `/${endpoints}/${index}`);
  await inTurns(plan, AT_ONCE, ({ workspace, type }, index) =>
    installation.manage("outbound_webhook.v1.EndpointService/CreateEndpoint", {
      workspace,
      url: `${receiverUrl}${paths[index]}`,
      events: [type],
    }),
  );
  return { targets: plan, paths };
}
