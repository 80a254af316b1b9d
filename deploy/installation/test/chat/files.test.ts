import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CallResponse } from "../running-toolgate.ts";
import { type ChatFrontDoor, openChat } from "./front-door.ts";

const MEGABYTE = 1024 * 1024;
const PDF = Buffer.from("%PDF-1.7\n%%EOF");

type Part = readonly [name: string, value: string | Blob, fileName?: string];

let door: ChatFrontDoor;
beforeAll(async () => {
  door = await openChat("single");
});
afterAll(() => door[Symbol.asyncDispose]());

const file = (content: Buffer, name = "report.pdf"): Part => ["file", new Blob([new Uint8Array(content)]), name];
const send = (parts: readonly Part[], headers: Record<string, string> = door.user.headers): Promise<CallResponse> => {
  const form = new FormData();
  for (const [name, value, fileName] of parts) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, value, fileName);
  }
  return door.toolgate.request("/chat/index", { method: "POST", headers, body: form });
};
const fields = (chatId: string, message = "Look at this"): Part[] => [
  ["tenant", door.tenant],
  ["chat_id", chatId],
  ["message", message],
];
const codeOf = ({ status, body }: CallResponse) => `${status} ${(body.error as { code: string } | undefined)?.code}`;
const storedFiles = async () => (await door.toolgate.pool.query("select name, size from chat.file")).rows;

test("[CHAT-4] [CHAT-11] a form carries a file to the model, wherever the file is in it, and history names it", async () => {
  for (const [chatId, parts] of [
    ["last", [...fields("last"), file(PDF)]],
    ["first", [file(PDF), ...fields("first")]],
  ] as const) {
    const answer = await send(parts);
    expect(answer.status).toBe(200);
    // The built-in model can only say that it got one.
    expect(answer.body.reply).toContain("report.pdf");
    const [user] = await door.history(chatId);
    expect(user).toMatchObject({ role: "user", content: "Look at this", files: ["report.pdf"] });
  }
});

test("[CHAT-4] [CHAT-9] a form without a file is the same as JSON, with test_mode as text", async () => {
  for (const value of ["true", "false", "1", "0"])
    expect((await send([...fields("plain", "hello"), ["test_mode", value]])).status).toBe(200);
  const empty: Part = ["file", new Blob([]), ""];
  expect((await send([...fields("plain", "hello"), empty])).status).toBe(200);
  for (const more of [
    ["test_mode", "yes"],
    ["file", "text"],
    ["chat_id", "again"],
  ] as Part[])
    expect(codeOf(await send([...fields("plain"), more]))).toBe("400 INVALID_PARAMETERS");
  expect(codeOf(await send([...fields("plain", " "), file(PDF)]))).toBe("400 INVALID_PARAMETERS");
});

test("[CHAT-11] 20 MB is the largest file, and an empty or a second one is refused", async () => {
  const large = Buffer.alloc(20 * MEGABYTE, "x");
  expect((await send([...fields("large"), file(large)])).status).toBe(200);
  const before = (await storedFiles()).length;
  const tooLarge = Buffer.alloc(20 * MEGABYTE + 1, "x");
  expect(codeOf(await send([...fields("large"), file(tooLarge)]))).toBe("400 FILE_TOO_LARGE");
  expect(codeOf(await send([file(tooLarge), ...fields("large")]))).toBe("400 FILE_TOO_LARGE");
  expect(codeOf(await send([...fields("large"), file(Buffer.alloc(0))]))).toBe("400 INVALID_FILE");
  // What was refused is deleted, perhaps after the response.
  await eventually(async () => expect((await storedFiles()).slice(before)).toEqual([]));
  expect(codeOf(await send([...fields("large"), file(PDF), file(PDF)]))).toBe("400 INVALID_FILE");
  expect(await door.history("large")).toHaveLength(2);
});

test("[CHAT-11] [CHAT-49] no file is stored without a login, and its name has no folders", async () => {
  const before = (await storedFiles()).length;
  expect(codeOf(await send([...fields("nobody"), file(PDF)], {}))).toBe("401 UNAUTHENTICATED");
  expect(codeOf(await send([...fields("nobody"), file(PDF)], { authorization: "Bearer x" }))).toBe(
    "401 UNAUTHENTICATED",
  );
  expect(await storedFiles()).toHaveLength(before);
  await send([...fields("named"), file(PDF, "..\\..\\etc/passwd")]);
  expect((await door.history("named"))[0].files).toEqual(["passwd"]);
});

test("[CHAT-11] a repeated message with its file is one turn", async () => {
  const parts: Part[] = [...fields("twice"), ["client_message_id", "m-1"], file(PDF)];
  const answers = [await send(parts), await send(parts)];
  expect(answers[1]?.body.reply).toBe(answers[0]?.body.reply);
  expect(await door.history("twice")).toHaveLength(2);
});

test("[CHAT-48] a broken form is refused", async () => {
  const post = (body: string) =>
    door.toolgate.request("/chat/index", {
      method: "POST",
      headers: { ...door.user.headers, "content-type": "multipart/form-data; boundary=b" },
      body,
    });
  const part = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const good = part("tenant", door.tenant) + part("chat_id", "raw") + part("message", "hello");
  expect((await post(`${good}--b--\r\n`)).status).toBe(200);
  for (const body of ["", "nonsense", good, part("__proto__", "x"), part("x", "y".repeat(300_000))])
    expect((await post(body)).status).toBe(400);
});
