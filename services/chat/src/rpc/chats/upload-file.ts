import type { ChatService, UploadFileRequest } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { MAX_FILE_NAME_CHARACTERS } from "@toolgate/rules/chat-message";
import { withoutControlCharacters } from "@toolgate/rules/name";
import type { UploadHandler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { refusal } from "../../domain/chat-error.ts";

/** [CHAT-11] */
export const uploadFile: UploadHandler<Context, typeof ChatService.method.uploadFile> = async ({ files }, requests) => {
  const parts = requests[Symbol.asyncIterator]();
  const { value: first } = await parts.next();
  const header = first?.part.case === "header" ? first.part.value : undefined;
  if (!header || header.userId === "") throw refusal("INVALID_FILE", "file: no header");
  const { id, size } = await files.store({ userId: header.userId, name: safeName(header.name) }, chunksOf(parts));
  return { fileId: id, size: BigInt(size) };
};

/** A call that its caller cuts may look complete, so the last part must say that it is the last. */
async function* chunksOf(parts: AsyncIterator<UploadFileRequest>): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { done, value } = await parts.next();
    if (done) throw refusal("INVALID_FILE", "file: incomplete");
    const { part } = value as UploadFileRequest;
    if (part.case === "end") return;
    if (part.case !== "chunk") throw refusal("INVALID_FILE", "file: more than one header");
    yield part.value;
  }
}

/** The name without folders and control characters. */
function safeName(name: string): string {
  const base = name.split(/[/\\]/).at(-1) ?? "";
  const printable = withoutControlCharacters(base).slice(0, MAX_FILE_NAME_CHARACTERS);
  return printable.trim() === "" ? "file" : printable.toWellFormed();
}
