import APNs
import CheckedNumbers
import DeviceSimulation
import EventLoop
import HTTP2
import PushModel

/// Delivers accepted pushes to the devices of a model, and lets the model's time pass.
///
/// The model's time is the time since the simulator's start, multiplied by the model's time factor. The factor does not
/// change other times of the simulator, such as response delays.
@Loop final class SimulatedDevices {
    /// The greatest number of events in one turn of the loop, so that responses do not wait for devices.
    private static let eventsPerTurn = 2_000

    private(set) var fleet: SimulatedFleet
    private let doneFile: DoneFile?
    /// The number of done reports written to ``doneFile``.
    private var written = 0
    /// The model's start by the loop's clock, in milliseconds.
    private let start = Loop.readMilliseconds()
    /// The model's start in milliseconds since 1970.
    private let wallStart = WallClock.milliseconds
    private lazy var timer = Timer { [unowned self] in advance() }
    /// The time by the loop's clock for which the timer is set; nil if the timer is not set.
    private var timerDue: UInt64?
    /// The latest payload and its parts. A job's payload usually arrives many times in a row.
    private var latest: (payload: [UInt8], parts: DevicePayload, editions: EditionList)?

    init(_ population: DevicePopulation, doneFile: String?) throws(SimulatorError) {
        fleet = SimulatedFleet(population)
        self.doneFile = try doneFile.map { (path) throws(SimulatorError) in try DoneFile(path) }
    }

    func stop() {
        timer.stop()
        doneFile?.flush()
    }

    // MARK: Pushes

    /// Delivers an accepted request to the device that its path names.
    func receive(_ request: ServerRequest) {
        guard let path = request.value(.path), path.count > 10,
            let token = TokenTable.bytes(of: path.after(10))
        else { return }
        var push = read(request.body, isBackground: request.value(.pushType)?.equals("background") ?? false)
        push.neverWakes = request.value(.priority)?.equals("1") ?? false
        push.expiration = request.value(.expiration).map { expiration($0) } ?? .never
        push.collapseID = Self.hash(request.value(.collapseID))
        _ = token.withUnsafeBytes { fleet.receive(push, token: $0, at: now) }
        writeDone()
        setTimer()
    }

    private func read(_ payload: UnsafeRawBufferPointer, isBackground: Bool) -> SimulatedPush {
        if latest.map({ !$0.payload.elementsEqual(payload) }) ?? true {
            let parts = DevicePayload(payload, editionKey: fleet.population.editionKey)
            latest = (Array(payload), parts, fleet.editionList(parts.editions))
        }
        guard let latest else { return SimulatedPush(.alert) }
        let kind: SimulatedPush.Kind =
            isBackground
            ? (latest.parts.isContentAvailable ? .background : .emptyBackground)
            : (latest.parts.isMutable ? .alertWithExtension : .alert)
        var push = SimulatedPush(kind)
        push.editions = latest.editions
        return push
    }

    /// Converts the Unix time of the `apns-expiration` header into the model's time. A push that expired before the model's start
    /// gets time 0, because APNs tries once to deliver an expired push.
    private func expiration(_ text: UnsafeRawBufferPointer) -> ModelTime {
        guard let seconds = Decimal.read(text) else { return .never }
        let rest = seconds.multiplied(saturating: 1000).adding(saturating: -wallStart)
        return ModelTime(milliseconds: Int64(clamping: Double(max(0, rest)) * fleet.population.timeFactor))
    }

    /// A hash of the collapse id. The hash is 0 only if the push has no collapse id.
    private static func hash(_ collapseID: UnsafeRawBufferPointer?) -> UInt32 {
        guard let collapseID, !collapseID.isEmpty else { return 0 }
        return UInt32(truncatingIfNeeded: XXH64.hash(collapseID, seed: 0)) | 1
    }

    // MARK: Time

    private var now: ModelTime { modelTime(Loop.milliseconds) }

    private func modelTime(_ milliseconds: UInt64) -> ModelTime {
        let elapsed = Double(milliseconds > start ? milliseconds - start : 0)
        return ModelTime(milliseconds: Int64(clamping: elapsed * fleet.population.timeFactor))
    }

    private func advance() {
        timerDue = nil
        _ = fleet.advance(to: now, limit: Self.eventsPerTurn)
        writeDone()
        setTimer()
    }

    private func setTimer() {
        guard let due = fleet.nextDue else { return }
        let delay = (Double(due.milliseconds) / fleet.population.timeFactor).rounded(.up)
        let time = start.adding(saturating: UInt64(clamping: delay))
        guard timerDue.map({ time < $0 }) ?? true else { return }
        timerDue = time
        timer.start(at: time)
    }

    private func writeDone() {
        guard let doneFile else { return }
        for entry in fleet.done.entries[written...] { doneFile.append(entry, of: fleet) }
        written = fleet.done.entries.count
        doneFile.flush()
    }

    // MARK: Reports

    /// The report for the words after `devices` in a command.
    func report(_ report: DeviceReport) -> String {
        advanceCompletely()
        return switch report {
        case .summary: fleet.summary(at: now)
        case .minutes: fleet.minutesReport()
        case .done(let place, let count): fleet.doneReport(from: place, count: count)
        }
    }

    private func advanceCompletely() {
        _ = fleet.advance(to: now)
        writeDone()
        setTimer()
    }
}

/// The report about the devices that a command requests.
enum DeviceReport: Sendable {
    case summary
    case minutes
    /// Up to `count` devices that are done, starting at the index `from` of the list of done devices.
    case done(from: Int, count: Int)

    init(_ words: inout FaultWords) throws(SimulatorError) {
        if words.take("minutes") {
            self = .minutes
        } else if words.take("done") {
            let place = words.isEmpty ? 0 : try words.count(in: 0...Int(Int32.max))
            let count = words.isEmpty ? 1000 : try words.count(in: 1...SimulatedFleet.mostDoneEntries)
            self = .done(from: place, count: count)
        } else {
            self = .summary
        }
    }
}
