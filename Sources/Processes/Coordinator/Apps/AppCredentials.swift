import ControlChannel
import EventLoop
import FarmConfiguration
import FarmPolicy
import Logging
import RedisClient
import StoreProtocol

/// Keeps an app's workers supplied with credentials, and pauses the app when the gateway will not have them.
@Loop final class AppCredentials {
    let files: CredentialFiles
    private let context: AppContext
    /// Of this host: what it may have of a gateway's connections is shared by so many.
    var workers: Int {
        didSet {
            if workers != oldValue, let setup { notifyWorkers(.app(setup)) }
        }
    }
    private var state = CredentialState()
    private var isRenewing = false
    private var isContinuing = false
    /// Why the app is paused, by us or by an operator; `nil` when it is not.
    private(set) var pauseReason: String?
    /// The credentials for which it is paused; "" when they are not the cause.
    private var pausedFingerprint = ""
    private let rateLimit: AppRateLimit
    /// What else Redis says of the app.
    var onAppState: @Loop (ReadAppState.State) async -> Void = { _ in }

    init(_ configuration: AppConfiguration, _ context: AppContext) {
        self.context = context
        workers = context.services.workers
        rateLimit = AppRateLimit(context)
        let registry = FarmRegistry(connection: context.services.redis)
        files = CredentialFiles(configuration, registry: registry, log: context.log)
    }

    private var name: String { context.name }
    private var store: AppStore { context.store }
    private var log: Logger { context.log }

    private func notifyWorkers(_ order: Order) { context.services.notifyWorkers(order) }

    // MARK: Start and change

    /// Loads the credentials, and finds out whether the app is paused and should stay so.
    func start() async {
        files.load()
        do throws(StoreError) {
            let appState = try await store.performWithRetries(ReadAppState())
            _ = rateLimit.follow(appState)
            await onAppState(appState)
            if let pause = appState.pause {
                note(pause)
                if files.problem == nil, isPausedForOthers { await resume() }
            }
        } catch {
            log.error("cannot read the app's pause and rate", error: error)
        }
        guard pauseReason == nil else { return }
        if let problem = files.problem { return await pause("credentials: \(problem)") }
        // A token that was refused is not replaced while the app is paused: that is the resume's to do.
        if await files.refreshToken() == .refused { await pause(refusedTwice) }
    }

    /// Orders for a worker that starts.
    var orders: [Order] {
        guard let setup else { return [.app(emptySetup), .pause(app: name)] }
        var orders: [Order] = [.app(setup)]
        if let token = files.token { orders.append(provider(token, reconnects: false)) }
        if pauseReason != nil { orders.append(.pause(app: name)) }
        return orders
    }

    /// The configuration was read again.
    func change(to configuration: AppConfiguration) async {
        files.follow(configuration)
        await reload()
    }

    /// Looks after what changes with time: the files, the token's age, a pause that an operator lifted.
    func refresh() async {
        if files.haveChanged() {
            log.notice("credential files have changed")
            await reload()
        }
        if pauseReason == nil { await renewTokenIfDue() }
        do throws(StoreError) {
            let appState = try await store.perform(ReadAppState())
            if rateLimit.follow(appState) {
                log.notice("rate limit changed", metadata: ["rate": "\(rateLimit.text)"])
                notifyWorkers(.rate(app: name, rate: rateLimit.rate(files.configuration)))
            }
            await onAppState(appState)
            let pause = appState.pause
            if pause == nil, pauseReason != nil { await continueAfterPause() }
            if let pause, pauseReason == nil {
                log.warning("app is paused", metadata: ["reason": "\(pause.reason)"])
                notifyWorkers(.pause(app: name))
            }
            if let pause { note(pause) }
        } catch {
            // Redis is away; the next look comes in a moment.
        }
    }

    private func renewTokenIfDue() async {
        switch await files.refreshToken() {
        case .kept: break
        case .refused: await pause(refusedTwice)
        case .renewed:
            guard let token = files.token else { return }
            state.renewed()
            notifyWorkers(provider(token, reconnects: false))
        }
    }

    // MARK: What workers and operators say

    /// A worker had an answer that puts the app's credentials or settings in doubt.
    func doubt(_ doubt: Notice.Doubt, generation: UInt32, reason: String) async {
        let action: CredentialState.Action
        switch doubt {
        case .credentialsStale: action = state.stale(reason: reason, generation: Int(generation))
        case .credentialsWrong: action = state.wrong(reason: reason, generation: Int(generation))
        case .configurationWrong: action = .pause(reason: "configuration: \(reason)")
        }
        switch action {
        case .renew: await renew(reason)
        case .pause(let why):
            if doubt != .configurationWrong { await files.refuseToken(reason) }
            await pause(why)
        case .resend where !isRenewing: sendAgain()
        case .resend: break
        case .hold: notifyWorkers(.pause(app: name))
        }
    }

    func proved(generation: UInt32) { state.proved(generation: Int(generation)) }

    /// Lifts the pause, for new credentials; one that an operator wants stays.
    func resume() async {
        do throws(StoreError) {
            guard try await store.performWithRetries(ResumeApp(isOwn: true)) != .heldByOperator else {
                return sendAgain()
            }
        } catch {
            return log.error("cannot resume", error: error)
        }
        await continueAfterPause()
    }

    private func renew(_ reason: String) async {
        isRenewing = true
        defer { isRenewing = false }
        await files.refuseToken(reason)
        if await files.refreshToken() == .refused {
            let why = "\(reason): the gateway refuses even a young token; check this host's clock and the key"
            if case .pause = state.notRenewed(reason: why) { await pause(why) }
            return
        }
        state.renewed()
        sendAgain()
    }

    /// Why the app stays paused though an operator resumed it.
    private var refusedTwice: String {
        let seconds = files.tokens?.renewalIn ?? 0
        return """
            the gateway has refused the provider token that was made for the last resume: correct key, id or \
            team, or resume in \((seconds + 59) / 60) min, when another one may be made
            """
    }

    /// Makes the workers continue with new connections.
    private func sendAgain() {
        if let token = files.token {
            notifyWorkers(provider(token, reconnects: true))
        } else if let setup {
            notifyWorkers(.app(setup))
        }
    }

    private func pause(_ reason: String) async {
        guard pauseReason == nil else { return notifyWorkers(.pause(app: name)) }
        let fingerprint = files.fingerprint ?? "none"
        (pauseReason, pausedFingerprint) = (reason, fingerprint)
        notifyWorkers(.pause(app: name))
        log.error("app paused", metadata: ["reason": "\(reason)"])
        do throws(StoreError) {
            _ = try await store.performWithRetries(PauseApp(reason: reason, fingerprint: fingerprint))
        } catch { log.error("cannot pause", error: error) }
    }

    /// The app was paused for other credentials than those that are here now.
    private var isPausedForOthers: Bool {
        !pausedFingerprint.isEmpty && pausedFingerprint != files.fingerprint
    }

    private func note(_ pause: ReadAppState.Pause) {
        pauseReason = pause.reason
        pausedFingerprint = pause.fingerprint
    }

    private func continueAfterPause() async {
        // Redis, a command and changed files may each end the same pause.
        guard !isContinuing else { return }
        isContinuing = true
        defer { isContinuing = false }
        let renewal = await files.tokens?.refreshAfterPause()
        (pauseReason, pausedFingerprint) = (nil, "")
        state.resumed()
        if renewal == .refused { return await pause(refusedTwice) }
        log.notice("app resumed")
        sendAgain()
        notifyWorkers(.resume(app: name))
    }

    // MARK: What workers get

    private func reload() async {
        let before = files.fingerprint
        files.load()
        // Later notices about the old credentials do not concern these.
        if before != files.fingerprint { state.renewed() }
        guard files.problem == nil else {
            // The old credentials, if any, are still good: the files may be half written.
            if before == nil, let problem = files.problem { await pause("credentials: \(problem)") }
            return
        }
        if pauseReason == nil, await files.refreshToken() == .refused { await pause(refusedTwice) }
        state.renewed()
        if let setup { notifyWorkers(.app(setup)) }
        // The credentials that another host was refused for may have arrived here only now.
        if pauseReason != nil, before != files.fingerprint, isPausedForOthers {
            await resume()
        } else {
            sendAgain()
        }
    }

    private func provider(_ token: [UInt8], reconnects: Bool) -> Order {
        .provider(app: name, generation: UInt32(state.generation), token: token, reconnects: reconnects)
    }

    private var setup: AppSetup? {
        var setup = emptySetup
        switch files.loaded {
        case nil: return nil
        case .key: setup.credentials = .providerToken
        case .certificate(let identity): setup.credentials = .certificate(pem: identity.pem.bytes)
        }
        setup.authority = files.authority
        return setup
    }

    /// Without what only the credentials provide.
    private var emptySetup: AppSetup {
        var setup = AppSetup(
            files.configuration, workers: workers, shards: context.shards,
            generation: UInt32(state.generation))
        setup.use.budgetRate = rateLimit.rate(files.configuration)
        return setup
    }
}
