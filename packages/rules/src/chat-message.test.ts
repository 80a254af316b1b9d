import { expect, test } from "vitest";
import { chatIdFault, clientMessageIdFault, messageFault } from "./chat-message.ts";

test.each(["a", "A-z_0.9:x", "x".repeat(128), "my_apikey_1"])("[CHAT-5] chat_id %j is valid", (chatId) => {
  expect(chatIdFault(chatId)).toBeUndefined();
});

test.each(["", "x".repeat(129), "a b", "a/b", "a*", "é", "a\n", "a\0", "apikey_1", "hook_7_x"])(
  "[CHAT-5] chat_id %j is refused",
  (chatId) => {
    expect(chatIdFault(chatId)).toMatch(/^chat_id: /);
  },
);

test("[CHAT-8] a message has 1 to 32000 characters and is not blank", () => {
  for (const message of ["a", "x".repeat(32_000), "  a  "]) expect(messageFault(message)).toBeUndefined();
  for (const message of ["", " \n\t", "x".repeat(32_001), "a\0b"]) expect(messageFault(message)).toMatch(/^message: /);
});

test("[CHAT] a client's message id has at most 255 visible characters", () => {
  for (const id of ["", "m-1", "x".repeat(255)]) expect(clientMessageIdFault(id)).toBeUndefined();
  for (const id of ["x".repeat(256), "a b", "é"]) expect(clientMessageIdFault(id)).toMatch(/^client_message_id: /);
});
