import { createClient } from "@connectrpc/connect";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { createLogger } from "@toolgate/service-host/logger";
import { eventually } from "@toolgate/testbed/eventually";
import { principalHeaders } from "@toolgate/testbed/principals";
import { testTransport } from "@toolgate/testbed/transports";
import { expect, test } from "vitest";
import { startChatRig, streamedText } from "../chat-rig.ts";

test("[CHAT-13] [CHAT-32] after a reset, the response to the running turn is an error, not a partial answer", async () => {
  await using rig = await startChatRig();
  const log = createLogger({ service: "test", level: "silent" });
  const chat = createClient(
    ChatService,
    testTransport((router) => rig.services[0]?.routes(router), log),
  );
  const { workspaceId, owner: userId } = rig.request("reset-answer", "");
  const principal = { userId, email: "u@example.test", workspaceId, workspace: "acme", role: "member" } as const;
  const headers = principalHeaders(principal);
  const calling = rig.model.call(rig.model.calls.length);
  const send = (message: string) => chat.sendMessage({ chatId: "reset-answer", message }, { headers });
  const running = send("Hi");
  (await calling).text("Half an ans");
  const waiting = send("And?");
  const row = await eventually(async () => {
    const { rows } = await rig.pool.query("select chat, count(*)::int as turns from chat.turn group by 1");
    return rows[0]?.turns === 2 && rows[0];
  });
  await eventually(async () => expect(streamedText(await rig.events(row.chat))).toBe("Half an ans"));
  await rig.turns.reset(rig.request("reset-answer", ""));
  for (const answer of await Promise.all([running, waiting]))
    expect(answer).toMatchObject({ reply: "", error: { code: "CHAT_RESET" } });
});
