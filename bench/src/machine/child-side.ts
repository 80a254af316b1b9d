/** The other end of `startBenchProcess`: the argument, and the loop of questions and answers. */
export function childArgument<T>(): T {
  return JSON.parse(process.argv[2] ?? "{}") as T;
}

export function answerParent<Question, Answer>(ready: object, answer: (question: Question) => Promise<Answer>): void {
  process.on("message", (question) => {
    answer(question as Question).then(
      (value) => process.send?.(value as object),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
  process.on("disconnect", () => process.exit());
  process.send?.(ready);
}

/** Milliseconds of a clock that all processes of this machine share and nobody sets. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
