import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { ListLockedWorkspacesRequestSchema } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import { expect, test } from "vitest";
import { type RunningKeyAuth, runKeyAuth } from "./running-key-auth.ts";

test("[IN-28] the lock of a workspace is read from the database, and one that does not exist is locked", async () => {
  await using keyAuth = await runKeyAuth();
  const [replica] = keyAuth.replicas as [RunningKeyAuth["replicas"][number]];
  const call = { caller: "inbound-hook" };
  const listLocked = async (workspaceIds: string[]) =>
    (await replica.hotCalls.listLockedWorkspaces(create(ListLockedWorkspacesRequestSchema, { workspaceIds }), call))
      .lockedIds;
  const isLocked = async (id: string) => (await listLocked([id])).includes(id);
  const lock = (locked: boolean) =>
    keyAuth.pool.query("update key_auth.workspaces set locked = $2 where id = $1", [keyAuth.workspaceId, locked]);

  expect(await isLocked(keyAuth.workspaceId)).toBe(false);
  await lock(true);
  expect(await isLocked(keyAuth.workspaceId)).toBe(true);
  await lock(false);
  expect(await isLocked(keyAuth.workspaceId)).toBe(false);
  for (const unknown of [randomUUID(), "", "not-an-id", "\0"]) expect(await isLocked(unknown)).toBe(true);
  const unknown = randomUUID();
  expect(await listLocked([unknown, keyAuth.workspaceId, "x"])).toEqual([unknown, "x"]);
  const tooMany = Array.from({ length: 501 }, () => keyAuth.workspaceId);
  await expect(listLocked(tooMany)).rejects.toMatchObject({ code: Code.InvalidArgument });
});
