/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The rooms of this module and the arrows between them. Rooms that are still empty are tolerated. */
@AnalyzeClasses(packages = "org.apache.spark.shuffle.rdma", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    /** The wiring: this package without those below it. */
    private static final String WIRING = "org.apache.spark.shuffle.rdma";

    private static final String ROOT = WIRING + ".";
    private static final String TRANSPORT = "org.sparkrdma.transport.";

    @ArchTest
    static final ArchRule everyClassIsInARoom = classes()
            .should()
            .resideInAnyPackage(
                    WIRING,
                    ROOT + "config..",
                    ROOT + "write..",
                    ROOT + "catalog..",
                    ROOT + "read..",
                    ROOT + "fallback..",
                    ROOT + "metrics..",
                    ROOT + "compat..",
                    ROOT + "buffers..",
                    ROOT + "ui..");

    @ArchTest
    static final ArchRule noRoomDependsOnTheWiring = noClasses()
            .that()
            .resideOutsideOfPackage(WIRING)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(WIRING)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule settingsAreSparkAndTheJdk = classes()
            .that()
            .resideInAPackage(ROOT + "config..")
            .should()
            .onlyDependOnClassesThat(
                    resideInAnyPackage("java..", "com.sun.management..", "scala..", "org.apache.spark..")
                            .and(not(resideInAPackage(WIRING + "..")))
                            .or(resideInAPackage(ROOT + "config..")))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule writersDoNotKnowReadersNorTransports = noClasses()
            .that()
            .resideInAPackage(ROOT + "write..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ROOT + "read..", TRANSPORT + "verbs..", TRANSPORT + "rdma..", TRANSPORT + "shm..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule readersDoNotKnowWritersNorTransports = noClasses()
            .that()
            .resideInAPackage(ROOT + "read..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ROOT + "write..", TRANSPORT + "verbs..", TRANSPORT + "rdma..", TRANSPORT + "shm..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule sparkEnvIsForTheWiringAndCompat = noClasses()
            .that()
            .resideOutsideOfPackages(WIRING, ROOT + "compat..")
            .should()
            .dependOnClassesThat()
            .haveNameMatching("org\\.apache\\.spark\\.SparkEnv\\$?")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule disniStaysBelow =
            noClasses().should().dependOnClassesThat().resideInAPackage("com.ibm.disni..");

    @ArchTest
    static final ArchRule noCycles =
            slices().matching(ROOT + "(*)..").should().beFreeOfCycles().allowEmptyShould(true);

    @ArchTest
    static final ArchRule noMutableStatics =
            fields().that().areStatic().should().beFinal().allowEmptyShould(true);

    @ArchTest
    static final ArchRule everyPackageSaysWhatItIs = classes()
            .should(be(describe(
                    "in a package with a package-info",
                    type -> type.getPackage().tryGetPackageInfo().isPresent())));
}
