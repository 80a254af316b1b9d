import { type Proposal, ProposalState } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import type { Item, ToolItem } from "../conversation/items.ts";

const YES = /^\s*(?:yes|ja)\s*[.!]?\s*$/i;

export const isYes = (message: string) => YES.test(message);

/** The question of a card with which a conversation ends. */
export interface LastQuestion {
  proposalId: string;
  /** The assistant said something after it, which may be another question. */
  isFollowed: boolean;
}

/** Undefined after two proposals, where it is not clear which one is meant, and after another message of the user's. */
export function lastQuestion(items: readonly Item[]): LastQuestion | undefined {
  const answer = items.slice(items.findLastIndex(isOfUser) + 1);
  const cards = answer.filter(isCard);
  const [card] = cards;
  if (!card || cards.length > 1) return undefined;
  const isFollowed = answer.slice(answer.indexOf(card)).some(({ kind }) => kind === "message");
  return { proposalId: card.proposalId, isFollowed };
}

/** [EXPO-2] What opens a tool is not confirmed by a yes that may answer another question. */
export function takesYes({ isFollowed }: LastQuestion, { state, newlyExposed }: Proposal): boolean {
  return state === ProposalState.OPEN && !(isFollowed && newlyExposed.length > 0);
}

/** Cards stand below all else that their answer says, so that it ends with their question. */
export function withCardsLast(items: readonly Item[]): Item[] {
  const answers: Item[][] = [[]];
  for (const item of items) {
    if (isOfUser(item)) answers.push([]);
    answers.at(-1)?.push(item);
  }
  return answers.flatMap((answer) => [...answer.filter((item) => !isCard(item)), ...answer.filter(isCard)]);
}

type Card = ToolItem & { proposalId: string };

const isCard = (item: Item): item is Card => item.kind === "tool" && item.proposalId !== undefined;
const isOfUser = (item: Item) => item.kind === "message" && item.role === "user";
