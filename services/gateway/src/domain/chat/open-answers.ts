import { Counts } from "@toolgate/slots/counts";

/** Open streams and waiting messages on one gateway: each is a connection, and some memory. */
export interface AnswerLimits {
  perUser: number;
  perWorkspace: number;
}

export const ANSWER_LIMITS: AnswerLimits = { perUser: 20, perWorkspace: 2_000 };

/** Counts the answers that users wait for. Without a limit one user could open all the connections that a gateway takes. */
export class OpenAnswers {
  readonly #open = new Counts();
  readonly #limits: AnswerLimits;

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
  }

  /** Dispose the result when the answer has ended. Undefined: the user or the workspace has too many. */
  open(userId: string, workspaceId: string): Disposable | undefined {
    const [user, workspace] = [`user ${userId}`, `workspace ${workspaceId}`];
    const { perUser, perWorkspace } = this.#limits;
    if (this.#open.of(user) >= perUser || this.#open.of(workspace) >= perWorkspace) return undefined;
    const answer = new DisposableStack();
    for (const name of [user, workspace]) {
      this.#open.add(name, 1);
      answer.defer(() => this.#open.add(name, -1));
    }
    return answer;
  }
}
