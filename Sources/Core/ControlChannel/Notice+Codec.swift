extension Notice: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .hello(let pid):
            writer.kind(1)
            writer.number(pid)
        case .heartbeat(let heartbeat):
            writer.kind(2)
            heartbeat.write(to: &writer)
        case .reported(let app):
            writer.kind(3)
            writer.text(app)
        case .doubt(let app, let doubt, let generation, let reason):
            writer.kind(4)
            writer.text(app)
            writer.number(doubt.rawValue)
            writer.number(generation)
            writer.text(reason)
        case .proved(let app, let generation):
            writer.kind(5)
            writer.text(app)
            writer.number(generation)
        case .fenced(let app):
            writer.kind(6)
            writer.text(app)
        case .released(let app, let shards):
            writer.kind(7)
            writer.text(app)
            writer.list(shards) { $0.number($1) }
        case .feedback(let app, let reading, let tuples, let error):
            writer.kind(8)
            writer.text(app)
            writer.text(reading)
            writer.number(tuples)
            writer.text(error)
        case .late(let app, let pushes, let reason):
            writer.kind(9)
            writer.text(app)
            writer.number(pushes)
            writer.text(reason)
        }
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        switch kind {
        case 1: self = .hello(pid: try reader.number())
        case 2: self = .heartbeat(try Heartbeat(from: &reader))
        case 3: self = .reported(app: try reader.text())
        case 4:
            let app = try reader.text()
            let doubt: UInt8 = try reader.number()
            guard let doubt = Doubt(rawValue: doubt) else { throw .unknownKind(doubt) }
            self = .doubt(app: app, doubt, generation: try reader.number(), reason: try reader.text())
        case 5: self = .proved(app: try reader.text(), generation: try reader.number())
        case 6: self = .fenced(app: try reader.text())
        case 7:
            self = .released(
                app: try reader.text(),
                shards: try reader.list { (reader) throws(ControlError) in try reader.number() })
        case 8:
            self = .feedback(
                app: try reader.text(), reading: try reader.text(), tuples: try reader.number(),
                error: try reader.text())
        case 9:
            self = .late(app: try reader.text(), pushes: try reader.number(), reason: try reader.text())
        default: throw .unknownKind(kind)
        }
    }
}

extension Notice.Heartbeat {
    func write(to writer: inout ControlWriter) {
        writer.number(connections)
        writer.number(openStreams)
        writer.number(batches)
        for count in [
            sent, delivered, failed, retried, dials, residentBytes, processorTaken, processorQueued,
            slowedTo,
        ] { writer.number(count) }
        writer.number(UInt8(isQuiet ? 1 : 0))
        writer.list(apps) { writer, app in app.write(to: &writer) }
    }

    init(from reader: inout ControlReader) throws(ControlError) {
        connections = try reader.number()
        openStreams = try reader.number()
        batches = try reader.number()
        sent = try reader.number()
        delivered = try reader.number()
        failed = try reader.number()
        retried = try reader.number()
        dials = try reader.number()
        residentBytes = try reader.number()
        processorTaken = try reader.number()
        processorQueued = try reader.number()
        slowedTo = try reader.number()
        isQuiet = try reader.flag()
        apps = try reader.list { (reader) throws(ControlError) in try App(from: &reader) }
    }
}
