import APNs
import BinaryProtocol
import ControlChannel
import EventLoop
import Logging
import OpenSSL
import PushModel
import RedisClient
import StoreProtocol
import Transport

/// Reads an app's feedback service once, from beginning to end.
///
/// The service deletes each tuple after it has sent the tuple, so this object stores every tuple in Redis. It stores one portion
/// of tuples at a time, and does not read the socket while it stores a portion.
@Loop final class FeedbackReading {
    private let request: FeedbackRequest
    private let scope: SuppressionScope
    private let store: AppRedis
    /// The suppression lists of the shards of the reported tokens. A service may report a token repeatedly. If the token is in
    /// the list of its shard already, the token is not added again.
    private let known: SuppressionLists
    private let ended: @Loop (_ tuples: Int, _ error: String) -> Void
    private var stream: ByteStream?
    private var reader = FeedbackTuple.Reader()
    private var waiting: [FeedbackTuple] = []
    private var stored = 0
    private var portions = 0
    private var isStoring = false
    /// The shards of the reported tokens.
    private var shards: Set<Int> = []
    private var isLearning = false
    /// The error that ended the reading; "" after a regular end, nil during the reading.
    private var end: String?
    private lazy var silence = Timer { [unowned self] in finish("") }

    private static let portion = 500
    private static let dialTimeout = Duration.seconds(20)
    /// When the service has been silent for this time after a tuple, the reading ends, because a service may keep the connection
    /// open after the last tuple.
    private static let silenceLimit = Duration.seconds(5)
    /// How long the first tuple may take.
    private static let firstSilenceLimit = Duration.seconds(30)
    /// The requested size of the socket's receive buffer; the kernel allocates twice this size. The size is small, because a
    /// crash of the worker loses the bytes in the buffer, and the service does not send them again.
    private static let receiveBuffer = 32 << 10

    /// - Parameters:
    ///   - known: the app's suppression lists, in an object that nothing else uses.
    ///   - ended: called once with the number of stored tuples, and with the error or "".
    init(
        _ request: FeedbackRequest, scope: SuppressionScope, store: AppRedis, known: SuppressionLists,
        ended: @escaping @Loop (_ tuples: Int, _ error: String) -> Void
    ) {
        (self.request, self.scope, self.store, self.ended) = (request, scope, store, ended)
        self.known = known
        known.onLoaded = { [weak self] in self?.listsAreRead() }
    }

    /// - Parameters:
    ///   - tls: nil means a connection without TLS.
    ///   - proxy: the HTTP proxy to connect through.
    func start(_ tls: TLSContext?, proxy: Endpoint?) {
        let dial = Dial(
            .tcp(host: request.host, port: request.port), tls: tls, proxy: proxy, timeout: Self.dialTimeout)
        Loop.task { await self.listen(over: dial) }
    }

    private func listen(over dial: Dial) async {
        do throws(TransportError) { listen(try await dial.connect()) } catch { finish("\(error)") }
    }

    private func listen(_ stream: ByteStream) {
        self.stream = stream
        stream.limitReceiveBuffer(Self.receiveBuffer)
        stream.onBytes = { [weak self] in self?.receive($0) }
        stream.onEnd = { [weak self] in self?.streamEnded($0) }
        silence.start(after: Self.firstSilenceLimit)
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        guard end == nil else { return }
        do throws(FeedbackTuple.Fault) {
            try reader.read(bytes) { waiting.append($0) }
        } catch {
            return finish("\(error)")
        }
        storeNext()
    }

    private func streamEnded(_ end: StreamEnd) {
        switch end {
        case .closed: finish("")
        case .failed(let error): finish("\(error)")
        }
    }

    private func finish(_ error: String) {
        guard end == nil else { return }
        let isCut = error.isEmpty && reader.pending > 0
        end = isCut ? "it ended within a tuple" : error
        silence.stop()
        stream?.close()
        stream = nil
        storeNext()
    }

    /// Stores waiting tuples in Redis, one portion after the other. Each step stores all waiting tuples, but at most ``portion``
    /// tuples.
    private func storeNext() {
        guard !isStoring else { return }
        guard !waiting.isEmpty else {
            if let end { ended(stored, end) } else { listenOn() }
            return
        }
        isStoring = true
        stream?.isReading = false
        silence.stop()
        shards.formUnion(waiting.prefix(Self.portion).map { shard(of: $0) })
        isLearning = true
        known.serve(shards)
        listsAreRead()
    }

    /// Stores the portion when the suppression lists for the portion's shards have been read, or when Redis has refused to return
    /// them.
    private func listsAreRead() {
        guard isLearning, known.isWhole else { return }
        isLearning = false
        let count = min(waiting.count, Self.portion)
        portions += 1
        let now = store.connection.clock.seconds
        let request = Suppress(
            waiting.prefix(count).map { entry($0, at: now) }, scopes: [scope], limit: request.limit,
            writer: request.reading, step: portions)
        Loop.task { await self.store(count, by: request) }
    }

    private func store(_ count: Int, by request: Suppress) async {
        do throws(StoreError) {
            _ = try await store.performWithRetries(request)
            stored += count
            waiting.removeFirst(count)
        } catch {
            // Redis refuses this portion permanently, so another attempt would fail too. The reading ends, and the waiting tuples
            // are dropped.
            waiting = []
            end = end.map { $0.isEmpty ? "\(error)" : $0 } ?? "\(error)"
            stream?.close()
            stream = nil
        }
        isStoring = false
        storeNext()
    }

    private func listenOn() {
        stream?.isReading = true
        silence.start(after: Self.silenceLimit)
    }

    private func shard(of tuple: FeedbackTuple) -> Int {
        ShardHash.shard(of: tuple.token, shards: request.shards)
    }

    private func entry(_ tuple: FeedbackTuple, at now: Int64) -> Suppress.Entry {
        var event = FarmEvent(.tokenInvalid)
        event.add("token", hex: tuple.token[...])
        event.add("reason", SuppressionReason.feedback.name)
        event.add("timestamp", "\(Int64(tuple.time) * 1000)")
        let shard = shard(of: tuple)
        let record = SuppressionRecord(
            reason: .feedback, scope: scope.number, time: min(Int64(tuple.time), now),
            token: tuple.token[...])
        let isKnown = known.covers(record, of: shard, at: now)
        if !isKnown { known.note(record, of: shard, at: now) }
        return Suppress.Entry(shard: shard, record: isKnown ? nil : record, event: event)
    }
}

/// The feedback readings in progress in this worker.
@Loop final class FeedbackReadings {
    private let log: Logger
    private let notify: @Loop (WorkerNotice) -> Void
    private var readings: [String: FeedbackReading] = [:]

    init(log: Logger, notify: @escaping @Loop (WorkerNotice) -> Void) {
        (self.log, self.notify) = (log, notify)
    }

    var isEmpty: Bool { readings.isEmpty }

    /// - Parameters:
    ///   - setup: the app's setup; nil when the app is not served here.
    ///   - app: the app's sender.
    func begin(_ request: FeedbackRequest, setup: AppSetup?, app: AppSender?) {
        guard let setup, let app else { return ended(request, 0, "the app is not served here") }
        guard readings[request.reading] == nil else { return }
        do {
            let tls = try TLSContext(client: ClientSettings(setup))
            let reading = FeedbackReading(
                request, scope: SuppressionScope(environment: setup.environment, topic: setup.topic),
                store: app.store,
                known: SuppressionLists(app.store, life: app.suppressionLists.life, log: log)
            ) { [unowned self] in ended(request, $0, $1) }
            readings[request.reading] = reading
            reading.start(tls, proxy: setup.proxy)
        } catch {
            ended(request, 0, "\(error)")
        }
    }

    private func ended(_ request: FeedbackRequest, _ tuples: Int, _ error: String) {
        readings[request.reading] = nil
        notify(.feedback(app: request.app, reading: request.reading, tuples: UInt64(tuples), error: error))
    }
}
