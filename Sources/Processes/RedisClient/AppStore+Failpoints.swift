#if FAILPOINTS
    import StoreProtocol
    import EventLoop
    import Failpoints
    import RedisProtocol

    extension AppStore {
        /// As ``send(_:then:)``, failing where it is told to.
        func sendPastFailpoints<Step: Request>(
            _ request: Step, then: @escaping @Loop (Result<Step.Reply, StoreError>) -> Void
        ) {
            let step = Step.script.map(\.rawValue) ?? "\(Step.self)"
            switch Failpoint.hit("redis.\(step).before") {
            case .pass: break
            case .drop: return then(.failure(.redis(.lost("failpoint"))))
            case .dup: transmit(request) { _ in }
            case .error:
                let refusal = RESPServerError(message: "LOADING failpoint")
                return then(.failure(.redis(.waitAndRepeat(refusal))))
            }
            transmit(request) { reply in
                switch Failpoint.hit("redis.\(step).after") {
                case .drop: then(.failure(.redis(.lost("failpoint"))))
                default: then(reply)
                }
            }
            if Failpoint.isWatched("redis.\(step).sent") {
                // Bytes leave at the end of the turn, so this is in the one behind it, before any answer is read.
                Loop.task {
                    try await Loop.sleep(for: .zero)
                    Failpoint.hit("redis.\(step).sent")
                }
            }
        }
    }
#endif
