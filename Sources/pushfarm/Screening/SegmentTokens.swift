import EventLoop
import FarmConfiguration
import PushModel
import RedisClient
import Registry
import Segments
import StoreProtocol

/// Writes the tokens of a segment's devices to a file, so that a screening can read the file as any token list.
@Loop struct SegmentTokens {
    /// The number of records that are read at once.
    private static let page = 4_096

    let client: FarmClient
    let app: String
    /// An expression, or the name of a saved segment.
    let segment: String
    let path: String

    /// Writes the file, unless an interrupted screening of the file must continue.
    ///
    /// - Parameters:
    ///   - isResumed: whether the screening has a progress file.
    ///   - startOver: whether to replace any file.
    /// - Throws: a failure if the file has other tokens.
    func prepare(isResumed: Bool, startOver: Bool) async throws(CommandFailure) {
        if TextFile.exists(path), !startOver {
            var lines = try TextLines(path)
            guard try lines.next().map(String.init) == title else {
                throw .usage(
                    "\(path) already exists, and has no tokens of this segment; --start-over replaces this file"
                )
            }
            if isResumed { return }
        }
        try await write()
    }

    /// The first line of the file. A screening ignores lines that start with `#`.
    private var title: String { "# tokens of \(app), segment \(PlainText.of(segment, limit: 4_096))" }

    private func write() async throws(CommandFailure) {
        let environment = try environment()
        let expression = try await ChosenSegment.find(segment, app, client).expression
        let reader = try await client.registry(of: app)
        let today = try await client.today()
        let partitions = try await client.read { () throws(StoreError) in try await reader.partitions() }
        var scan = SegmentScan([expression], today: today, reader, partitions)
        var sink = try TextSink(path)
        try sink.write(title)
        while let chunk = try await next(&scan) {
            var ordinals = chunk.evaluation.devices().ordinals[...]
            while !ordinals.isEmpty {
                let places = ordinals.prefix(Self.page).map { ordinal in
                    DevicePlace(
                        partition: chunk.partition,
                        ordinal: chunk.number * OrdinalChunk.size + Int(ordinal))
                }
                ordinals = ordinals.dropFirst(Self.page)
                let page = try await client.read { () throws(StoreError) in
                    try await reader.devices(at: places)
                }
                for device in page.devices {
                    for stored in device.record.addresses
                    where stored.address.service == .apns && stored.address.kind == .app
                        && stored.address.environment == environment
                    {
                        try sink.write(Hexadecimal.text(of: stored.address.bytes))
                    }
                }
            }
        }
        try sink.finish()
    }

    private func next(_ scan: inout SegmentScan) async throws(CommandFailure) -> SegmentScan.Chunk? {
        do { return try await scan.next() } catch { throw client.failure(error) }
    }

    /// The environment of the app's gateway. A gateway refuses tokens of the other environment.
    private func environment() throws(CommandFailure) -> DeviceAddress.Environment {
        guard let settings = client.configuration.app(named: app) else {
            throw .usage("the configuration has no app \(app); without its gateway, the tokens are not known")
        }
        let isSandbox = settings.gatewayEnvironment == AppConfiguration.Environment.sandbox.rawValue
        return isSandbox ? .sandbox : .production
    }
}
