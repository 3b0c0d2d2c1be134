import ControlChannel
import EventLoop
import StoreProtocol

/// Makes the messages that tell a worker the setup and the credentials of an app, and whether the app is paused.
@Loop final class AppMessageMaker {
    /// The number of workers of this host. The workers share the host's connections to a gateway.
    var workers: Int
    private let files: CredentialFiles
    private let rateLimit: AppRateLimit
    private let context: AppContext

    init(_ files: CredentialFiles, _ rateLimit: AppRateLimit, _ context: AppContext) {
        self.files = files
        self.rateLimit = rateLimit
        self.context = context
        workers = context.shared.workers
    }

    /// The messages about the app for a worker that starts.
    func messages(generation: Int, isPaused: Bool) -> [WorkerMessage] {
        guard let setup = setup(generation: generation) else {
            return [.app(emptySetup(generation: generation)), .pause(app: context.name)]
        }
        var messages: [WorkerMessage] = [.app(setup)]
        if let token = files.token {
            messages.append(provider(token, generation: generation, reconnects: false))
        }
        if isPaused { messages.append(.pause(app: context.name)) }
        return messages
    }

    func provider(_ token: [UInt8], generation: Int, reconnects: Bool) -> WorkerMessage {
        .provider(app: context.name, generation: UInt32(generation), token: token, reconnects: reconnects)
    }

    /// The app's setup; nil before credentials are loaded.
    func setup(generation: Int) -> AppSetup? {
        var setup = emptySetup(generation: generation)
        switch files.loaded {
        case nil: return nil
        case .key: setup.credentials = .providerToken
        case .certificate(let identity): setup.credentials = .certificate(pem: identity.pem.bytes)
        }
        setup.trustedCA = files.trustedCA
        return setup
    }

    /// The app's setup without its credentials.
    private func emptySetup(generation: Int) -> AppSetup {
        var setup = AppSetup(
            files.configuration, workers: workers, shards: context.shards, generation: UInt32(generation))
        setup.use.budgetRate = rateLimit.rate(files.configuration)
        return setup
    }
}
