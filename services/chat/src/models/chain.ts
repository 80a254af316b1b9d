import { type Model, ModelError } from "./model.ts";

/**
 * Asks one model after the other until one answers; the next one only when the one before failed without any output.
 * Fails with the error of the last one asked. `onError` is told about each model that failed. Throws a TypeError without a
 * model.
 */
export function chainModels(
  models: readonly Model[],
  onError: (model: string, error: ModelError) => void = () => {},
): Model {
  const [first] = models;
  if (first === undefined) throw new TypeError("a chain needs a model");
  return {
    name: first.name,
    async *stream(request, signal) {
      for (const [index, model] of models.entries()) {
        try {
          yield* model.stream(request, signal);
          return;
        } catch (error) {
          if (!(error instanceof ModelError)) throw error;
          onError(model.name, error);
          if (!error.beforeOutput || index === models.length - 1) throw error;
        }
      }
    },
  };
}
