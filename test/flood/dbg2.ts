import { start, post, call } from "./Flooded2.ts"
import { connect } from "node:net"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
const host=process.argv[2]!
const {server,port}=await start(host)
const socket=connect({port,host:"127.0.0.1"}); await once(socket,"connect")
console.log("base",server.peak)
socket.write(post(0)); await once(socket,"readable")
console.log("first",server.peak)
let text=""; for(let i=1;i<=100000;i++) text+=post(i)
const b=server.bytesRead
socket.write(text)
for(let i=0;i<12;i++){await sleep(400); console.log(server.peak.toFixed(0), ((server.bytesRead-b)/1024).toFixed(0)+"K of", (text.length/1024).toFixed(0))}
socket.destroy(); await sleep(1000); console.log("after",server.peak)
await server.end()
