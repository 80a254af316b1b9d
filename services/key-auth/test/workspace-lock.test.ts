import { randomUUID } from "node:crypto";
import { Code, createClient } from "@connectrpc/connect";
import { WorkspaceService } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import { createLogger } from "@toolgate/service-host/logger";
import { testTransport } from "@toolgate/testbed/transports";
import { expect, test } from "vitest";
import { type RunningKeyAuth, runKeyAuth } from "./running-key-auth.ts";

test("[IN-28] the lock of a workspace is read from the database, and one that does not exist is locked", async () => {
  await using keyAuth = await runKeyAuth();
  const [replica] = keyAuth.replicas as [RunningKeyAuth["replicas"][number]];
  const log = createLogger({ service: "test", level: "silent" });
  const workspaces = createClient(WorkspaceService, testTransport(replica.routes, log));
  const isLocked = async (id: string) =>
    (await workspaces.listLockedWorkspaces({ workspaceIds: [id] })).lockedIds.includes(id);
  const lock = (locked: boolean) =>
    keyAuth.pool.query("update key_auth.workspaces set locked = $2 where id = $1", [keyAuth.workspaceId, locked]);

  expect(await isLocked(keyAuth.workspaceId)).toBe(false);
  await lock(true);
  expect(await isLocked(keyAuth.workspaceId)).toBe(true);
  await lock(false);
  expect(await isLocked(keyAuth.workspaceId)).toBe(false);
  for (const unknown of [randomUUID(), "", "not-an-id", "\0"]) expect(await isLocked(unknown)).toBe(true);
  const workspaceIds = [randomUUID(), keyAuth.workspaceId, "x"];
  const { lockedIds } = await workspaces.listLockedWorkspaces({ workspaceIds });
  expect(lockedIds).toEqual([workspaceIds[0], "x"]);
  const tooMany = { workspaceIds: Array.from({ length: 501 }, () => keyAuth.workspaceId) };
  await expect(workspaces.listLockedWorkspaces(tooMany)).rejects.toMatchObject({ code: Code.InvalidArgument });
});
