extension Order: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .begin(let redis, let authority, let worker, let index):
            writer.kind(1)
            writer.text(redis)
            writer.blob(authority)
            writer.text(worker)
            writer.number(index)
        case .app(let setup):
            writer.kind(2)
            setup.write(to: &writer)
        case .forget(let app):
            writer.kind(3)
            writer.text(app)
        case .provider(let app, let generation, let token, let reconnects):
            writer.kind(4)
            writer.text(app)
            writer.number(generation)
            writer.blob(token)
            writer.number(UInt8(reconnects ? 1 : 0))
        case .shards(let app, let shards):
            writer.kind(5)
            writer.text(app)
            writer.list(shards) { writer, shard in
                writer.number(shard.number)
                writer.blob(shard.fence)
            }
        case .batchesReady(let app, let shards):
            writer.kind(6)
            writer.text(app)
            writer.list(shards) { $0.number($1) }
        case .suppressed(let app, let shards):
            writer.kind(11)
            writer.text(app)
            writer.list(shards) { $0.number($1) }
        case .feedback(let order):
            writer.kind(12)
            order.write(to: &writer)
        case .pause(let app):
            writer.kind(7)
            writer.text(app)
        case .resume(let app):
            writer.kind(8)
            writer.text(app)
        case .rate(let app, let rate):
            writer.kind(20)
            writer.text(app)
            writer.decimal(rate)
        case .returnBatches(let app, let jobs, let shards):
            writer.kind(21)
            writer.text(app)
            writer.list(jobs) { $0.text($1) }
            writer.list(shards) { $0.number($1) }
        case .lease(let end):
            writer.kind(10)
            writer.number(end)
        case .finish(let milliseconds):
            writer.kind(9)
            writer.number(milliseconds)
        case .dump: writer.kind(13)
        case .logLevel(let level):
            writer.kind(14)
            writer.text(level)
        case .reopenLogs: writer.kind(15)
        }
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
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
            self = .batchesReady(
                app: try reader.text(),
                shards: try reader.list { (reader) throws(ControlError) in try reader.number() })
        case 11:
            self = .suppressed(
                app: try reader.text(),
                shards: try reader.list { (reader) throws(ControlError) in try reader.number() })
        case 12: self = .feedback(try FeedbackOrder(from: &reader))
        case 7: self = .pause(app: try reader.text())
        case 8: self = .resume(app: try reader.text())
        case 20: self = .rate(app: try reader.text(), rate: try reader.decimal())
        case 21:
            self = .returnBatches(
                app: try reader.text(),
                jobs: try reader.list { (reader) throws(ControlError) in try reader.text() },
                shards: try reader.list { (reader) throws(ControlError) in try reader.number() })
        case 10: self = .lease(end: try reader.number())
        case 9: self = .finish(withinMilliseconds: try reader.number())
        case 13: self = .dump
        case 14: self = .logLevel(try reader.text())
        case 15: self = .reopenLogs
        default: throw .unknownKind(kind)
        }
    }
}
