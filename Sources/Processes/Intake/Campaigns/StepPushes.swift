import Campaigns
import JobSplitting
import PushModel
import Scheduling
import StoreProtocol

/// The devices that a step chose, turned into batches by the rules of jobs.
///
/// The devices are handled in their order. The first device that does not fit into the step ends the step, so the handled devices
/// are always the first ones.
struct StepPushes {
    /// A chosen device.
    enum Device {
        case push(CampaignDevice)
        /// The device left the registry after its chunk was read.
        case removed
        /// The device gets no variant of the message, so that the campaign's effect can be measured.
        case heldOut
        /// No push can be made for the device, for this reason.
        case unsendable(String)
        /// The device has reached a cap.
        case capped
        /// The device has quiet hours.
        case quiet

        /// Applies limits to a device that would get a push.
        mutating func limit(_ verdict: AudienceLimits.Verdict) {
            guard case .push = self else { return }
            switch verdict {
            case .allowed: break
            case .capped: self = .capped
            case .quiet: self = .quiet
            }
        }

        /// Chooses one of the step's merged payloads for a device that would get a push.
        mutating func merge(_ payload: Int) {
            guard case .push(let device) = self else { return }
            self = .push(device.with(mergedPayload: payload))
        }
    }

    /// How pushes become jobs and batches.
    struct Rules {
        let app: String
        let topic: String
        let limits: JobLimits
        /// In Unix seconds.
        let now: Int64
        let shards: Int
        var steps = StepLimits()
    }

    private(set) var batches: [Split.NewBatch] = []
    private(set) var accepted = 0
    /// The places, among the chosen devices, of the devices whose push is accepted.
    private(set) var acceptedIndexes: [Int] = []
    private(set) var capped = 0
    private(set) var excluded = 0
    private(set) var unsendable = 0
    /// The number of devices that the step handles, from the first.
    private(set) var handled = 0
    /// Why the first of the unsendable devices got no push; nil if there is none.
    private(set) var fault: String?
    private let job: CampaignJob
    private let rules: Rules
    private let isFallback: Bool
    private let expiry: UTCTime?
    private let merged: MergedPayloads?
    private var packer: CampaignStepPacker

    /// Packs pushes to as many of the devices as fit into a step.
    ///
    /// - Parameters:
    ///   - id: the id of the campaign, and of its job record.
    ///   - isFallback: whether the pushes have the payload of `fallback`.
    ///   - expiry: when the devices' window ends; nil without a window.
    ///   - merged: the payloads of merged pushes; nil if the pushes have only the campaign's content.
    init(
        _ devices: [Device], of campaign: Campaign, id: String, rules: Rules, isFallback: Bool,
        expiry: UTCTime?, merged: MergedPayloads? = nil
    ) {
        job = CampaignJob(campaign, id: id)
        (self.rules, self.isFallback, self.expiry, self.merged) = (rules, isFallback, expiry, merged)
        packer = CampaignStepPacker(id: id, shards: rules.shards, limits: rules.steps)
        var pushes: [(index: Int, device: CampaignDevice)] = []
        for (index, device) in devices.enumerated() {
            if case .push(let device) = device { pushes.append((index, device)) }
        }
        handled = add(pushes[...]) ?? devices.count
        for device in devices[..<handled] {
            switch device {
            case .push: break
            case .removed, .quiet, .heldOut: excluded += 1
            case .capped: capped += 1
            case .unsendable(let reason): countUnsendable(reason)
            }
        }
        batches = packer.finish()
    }

    /// Adds pushes to some devices. If their job is refused, because of one of the devices, each half is tried alone.
    ///
    /// - Returns: the index of the first device that does not fit into the step; nil if all devices fit.
    private mutating func add(_ devices: ArraySlice<(index: Int, device: CampaignDevice)>) -> Int? {
        guard !devices.isEmpty else { return nil }
        let text = job.text(
            for: devices.map(\.device), isFallback: isFallback, expiry: expiry, merged: merged)
        let parsed: ParsedJob
        do throws(JobError) {
            parsed = try JobParser.parse(
                text, app: rules.app, topic: rules.topic, now: rules.now, limits: rules.limits)
        } catch {
            guard devices.count > 1 else {
                countUnsendable("\(error.field): \(error.reason)")
                return nil
            }
            let middle = devices.startIndex + devices.count / 2
            return add(devices[..<middle]) ?? add(devices[middle...])
        }
        let fitting = packer.add(parsed)
        let end = fitting < parsed.accepted ? Int(parsed.pushes[fitting].index) : devices.count
        let malformed = parsed.malformed.prefix { $0.index < end }
        accepted += fitting
        acceptedIndexes += parsed.pushes.prefix(fitting).map {
            devices[devices.startIndex + Int($0.index)].index
        }
        for push in malformed { countUnsendable(push.reason) }
        // The job's other pushes have the token of an earlier device, so the device already gets this push.
        excluded += end - fitting - malformed.count
        return end < devices.count ? devices[devices.startIndex + end].index : nil
    }

    private mutating func countUnsendable(_ reason: String) {
        unsendable += 1
        fault = fault ?? reason
    }
}
