import { errors, type JWTVerifyGetKey, type JWTVerifyOptions, type JWTVerifyResult, jwtVerify } from 'jose';

/** Of the keys that a token may be signed with which names none; each costs some ten microseconds. */
const MAX_KEYS_TRIED = 20;

/** As jose's `jwtVerify`, but that where several keys may be the token's, each is tried. */
export const verifyToken = async (
  token: string,
  getKey: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> => {
  try {
    return await jwtVerify(token, getKey, options);
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return verifyWithAny(token, error, options);
    throw error;
  }
};

const verifyWithAny = async (
  token: string,
  keys: errors.JWKSMultipleMatchingKeys,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> => {
  let tried = 0;
  for await (const key of keys) {
    try {
      return await jwtVerify(token, key, options);
    } catch (error) {
      tried += 1;
      const isOtherKey = error instanceof errors.JWSSignatureVerificationFailed;
      if (!isOtherKey || tried === MAX_KEYS_TRIED) throw error;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
};
