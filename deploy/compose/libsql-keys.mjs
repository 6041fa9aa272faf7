// Makes the key by which a libSQL server knows its clients, and the token of one that may read and write. The private key is kept nowhere.
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const { publicKey, privateKey } = await generateKeyPair('EdDSA');
const { x } = await exportJWK(publicKey);
const token = await new SignJWT({ a: 'rw' }).setProtectedHeader({ alg: 'EdDSA' }).setIssuedAt().sign(privateKey);
console.log(`SQLD_AUTH_JWT_KEY=${x}`);
console.log(`LIBSQL_AUTH_TOKEN=${token}`);
