import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createFiles } from "../../src/files/files.ts";
import { type ObjectStore, openFolderStore } from "../../src/files/folder-store.ts";
import { refuseWaiting } from "../../src/store/turns/refuse.ts";
import { type ChatRig, startChatRig } from "../chat-rig.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

let rig: ChatRig;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolgate-files-"));
  rig = await startChatRig();
});
afterAll(async () => {
  await rig[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

function filesIn(objects: ObjectStore, now: () => Date) {
  const files = createFiles({ pool: rig.pool, objects, now });
  const { userId } = rig.request("any", "");
  async function save(name: string): Promise<string> {
    async function* chunks() {
      yield Buffer.from(name);
    }
    return (await files.store({ userId, name }, chunks())).id;
  }
  return { files, save };
}

it("[CHAT-31] the files of a chat are deleted after its reset, others when their time is over, also when a deletion was cut off", async () => {
  const store = await openFolderStore(folder);
  let failures = 0;
  const objects = {
    ...store,
    async delete(id: string) {
      if (failures > 0) throw new Error(`cut off, ${failures--} more`);
      await store.delete(id);
    },
  };
  let now = new Date();
  const { files, save } = filesIn(objects, () => now);
  const { owner } = rig.request("any", "");
  const kept = async () => {
    const { rows } = await rig.pool.query("select name from chat.file order by name");
    expect(await readdir(folder)).toHaveLength(rows.length);
    return rows.map(({ name }) => name);
  };
  await save("unused");
  const turn = await rig.send("reset", "Look", { fileId: await save("reset") });
  await rig.send("reset", "Wait", { fileId: await save("waits") });
  await rig.send("kept", "Look", { fileId: await save("kept") });
  await rig.send("kept", "Wait", { fileId: await save("refused") });
  await files.expire();
  expect(await kept()).toEqual(["kept", "refused", "reset", "unused", "waits"]);
  await rig.turns.reset({ workspaceId: rig.tools.workspaceId, chatId: "reset", owner });
  // From the time at which it was sent, however long that took.
  now = new Date(Date.now() + 31_000);
  await refuseWaiting(rig.pool, now);
  now = new Date(now.getTime() + 1_000);
  failures = 1;
  await expect(files.expire()).rejects.toThrow("cannot be deleted");
  await files.expire();
  expect(await kept()).toEqual(["kept", "unused"]);
  expect(await rig.history(turn.chat)).toEqual([]);
  now = new Date(now.getTime() + HOUR_MS);
  await files.expire();
  expect(await kept()).toEqual(["kept"]);
  now = new Date(now.getTime() + 30 * DAY_MS);
  await files.expire();
  expect(await kept()).toEqual([]);
});

it("files that cannot be deleted do not keep later ones from being deleted", async () => {
  const objects = {
    ...(await openFolderStore(folder)),
    async delete(id: string) {
      if (stuck.has(id)) throw new Error("stuck");
    },
  };
  const stuck = new Set<string>();
  let now = new Date();
  const { files, save } = filesIn(objects, () => now);
  // More than are found together, and all with the same time.
  for (let count = 0; count < 30; count += 1) stuck.add(await save("stuck"));
  now = new Date(now.getTime() + 1_000);
  await save("later");
  now = new Date(now.getTime() + 2 * HOUR_MS);
  await expect(files.expire()).rejects.toThrow("30 files cannot be deleted");
  const { rows } = await rig.pool.query("select distinct name from chat.file");
  expect(rows).toEqual([{ name: "stuck" }]);
  stuck.clear();
  await files.expire();
  expect((await rig.pool.query("select id from chat.file")).rows).toEqual([]);
});
