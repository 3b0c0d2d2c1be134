/// One byte for the kind, then its elements in order.
extension Order: ControlMessage {
    package var encoded: [UInt8] {
        var writer = ControlWriter()
        switch self {
        case .begin(let redis, let authority, let worker, let index):
            writer.number(UInt8(1))
            writer.text(redis)
            writer.blob(authority)
            writer.text(worker)
            writer.number(index)
        case .app(let setup):
            writer.number(UInt8(2))
            setup.write(to: &writer)
        case .forget(let app):
            writer.number(UInt8(3))
            writer.text(app)
        case .provider(let app, let generation, let token, let reconnects):
            writer.number(UInt8(4))
            writer.text(app)
            writer.number(generation)
            writer.blob(token)
            writer.number(UInt8(reconnects ? 1 : 0))
        case .shards(let app, let shards):
            writer.number(UInt8(5))
            writer.text(app)
            writer.list(shards) { writer, shard in
                writer.number(shard.number)
                writer.blob(shard.fence)
            }
        case .ring(let app, let shards):
            writer.number(UInt8(6))
            writer.text(app)
            writer.list(shards) { $0.number($1) }
        case .pause(let app):
            writer.number(UInt8(7))
            writer.text(app)
        case .resume(let app):
            writer.number(UInt8(8))
            writer.text(app)
        case .lease(let end):
            writer.number(UInt8(10))
            writer.number(end)
        case .finish(let milliseconds):
            writer.number(UInt8(9))
            writer.number(milliseconds)
        }
        return writer.bytes
    }

    package init(decoding bytes: ArraySlice<UInt8>) throws(ControlError) {
        var reader = ControlReader(bytes)
        let kind: UInt8 = try reader.number()
        switch kind {
        case 1:
            self = .begin(
                redis: try reader.text(), redisAuthority: try reader.blob(), worker: try reader.text(),
                index: try reader.number())
        case 2: self = .app(try AppSetup(from: &reader))
        case 3: self = .forget(app: try reader.text())
        case 4:
            self = .provider(
                app: try reader.text(), generation: try reader.number(), token: try reader.blob(),
                reconnects: try reader.flag())
        case 5:
            self = .shards(
                app: try reader.text(),
                try reader.list { (reader) throws(ControlError) in
                    Shard(number: try reader.number(), fence: try reader.blob())
                })
        case 6:
            self = .ring(
                app: try reader.text(),
                shards: try reader.list { (reader) throws(ControlError) in try reader.number() })
        case 7: self = .pause(app: try reader.text())
        case 8: self = .resume(app: try reader.text())
        case 10: self = .lease(end: try reader.number())
        case 9: self = .finish(withinMilliseconds: try reader.number())
        default: throw .unknownKind(kind)
        }
        try reader.end()
    }
}

extension AppSetup {
    func write(to writer: inout ControlWriter) {
        writer.text(name)
        writer.text(topic)
        writer.text(host)
        writer.number(port)
        switch credentials {
        case .providerToken: writer.number(UInt8(0))
        case .certificate(let pem):
            writer.number(UInt8(1))
            writer.blob(pem)
        }
        writer.blob(authority)
        writer.number(requestTimeoutMilliseconds)
        writer.text(proxyHost)
        writer.number(proxyPort)
        writer.number(connections)
        writer.number(generation)
    }

    init(from reader: inout ControlReader) throws(ControlError) {
        name = try reader.text()
        topic = try reader.text()
        host = try reader.text()
        port = try reader.number()
        let kind: UInt8 = try reader.number()
        switch kind {
        case 0: credentials = .providerToken
        case 1: credentials = .certificate(pem: try reader.blob())
        default: throw .unknownKind(kind)
        }
        authority = try reader.blob()
        requestTimeoutMilliseconds = try reader.number()
        proxyHost = try reader.text()
        proxyPort = try reader.number()
        connections = try reader.number()
        generation = try reader.number()
    }
}
