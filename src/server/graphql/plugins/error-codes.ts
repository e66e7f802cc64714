import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { withCode } from '../../../graph/mask.ts';

/** Codes for what is wrong with a document; what goes wrong later gets its code where it is masked. */
export const useErrorCodes = (): Plugin => ({
  onParse:
    () =>
    ({ result, replaceParseResult }) => {
      if (result instanceof GraphQLError) replaceParseResult(withCode(result, 'GRAPHQL_PARSE_FAILED'));
    },
  onValidate:
    () =>
    ({ result, setResult }) =>
      setResult(result.map((error) => withCode(error as GraphQLError, 'GRAPHQL_VALIDATION_FAILED'))),
});
