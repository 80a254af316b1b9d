/** The assistant with which tools are released and changed by talking. */
export const BUILDER_NAME = "@builder";
