import { kindsOf, textOf } from "../chat/client.ts";
import type { ChatFrontDoor } from "../chat/front-door.ts";
import type { RunningToolgate } from "../running-toolgate.ts";
import { clientMessageIdOf, type ReadAnswer } from "./answers.ts";
import { chatIdOf, messageOf, visitOf } from "./chats.ts";

/** Answers that do not end with `done`, once, and without an error. */
export function unfinishedAnswers(answers: readonly ReadAnswer[]): string[] {
  const endsOf = ({ events }: ReadAnswer) => kindsOf(events).filter((kind) => kind === "error" || kind === "done");
  return answers
    .filter((answer) => endsOf(answer).join() !== "done")
    .map((answer) => `answer ${answer.number} ends with ${endsOf(answer)}`);
}

/** Answers of which an event id is missing or came twice. */
export function answersWithGaps(answers: readonly ReadAnswer[]): string[] {
  return answers
    .filter(({ ids }) => ids.some((id, index) => id !== index + 1))
    .map(({ number, ids }) => `the ids of answer ${number}: ${ids}`);
}

/** Answers that are empty, or differ from the chat's history or from the reply to a plain send of the same message. */
export async function differentAnswers(door: ChatFrontDoor, answers: readonly ReadAnswer[]): Promise<unknown[]> {
  const different: unknown[] = [];
  for (const { number, events } of answers) {
    const [text, message, chatId] = [textOf(events), messageOf(number), chatIdOf(number)];
    const stored = (await door.history(chatId)).map(({ content }) => content);
    const again = { chat_id: chatId, message, client_message_id: clientMessageIdOf(number) };
    const sent = await door.post("/chat/index", again);
    const isEqual = stored.length === 2 && stored[0] === message && stored[1] === text && sent.body.reply === text;
    if (!isEqual || text === "") different.push({ number, text, stored, sent: sent.body });
  }
  return different;
}

/** Answers whose tool ran twice, or that do not tell the truth about it. */
export async function wrongToolCalls(
  { pool, receiver }: RunningToolgate,
  answers: readonly ReadAnswer[],
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string; calls: number; status: string }>(
    `select chat_id as id, count(*)::int as calls, min(tool_call.status) as status
     from chat.chat join chat.turn on turn.chat = chat.id join chat.tool_call on tool_call.turn = turn.id group by 1`,
  );
  const visits = Map.groupBy(receiver.requests, ({ path }) => path);
  return answers.flatMap(({ number, events }) => {
    const { calls, status } = rows.find(({ id }) => id === chatIdOf(number)) ?? {};
    const ran = visits.get(visitOf(number))?.length ?? 0;
    const told = kindsOf(events).filter((kind) => kind.startsWith("tool"));
    const isRight = calls === 1 && ran <= 1 && (status !== "succeeded" || ran === 1);
    if (isRight && told.join() === "tool_start,tool_complete") return [];
    return [`answer ${number}: ${calls} calls, ${status}, ${ran} runs, told as ${told}`];
  });
}
